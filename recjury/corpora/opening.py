"""Corpora by name, by folder, and of one's own; catalogues alone."""

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from recjury import plugins
from recjury.corpora.corpus import Corpus
from recjury.corpora.drawing import drawn
from recjury.corpora.folder import read_folder
from recjury.corpora.ievalm import DATA_VARIABLE, ievalm
from recjury.corpora.inspired import inspired
from recjury.errors import UserError
from recjury.files import nearest


def _shipped(name: str, split: str) -> Corpus:
    """Films or books, which ship with recjury."""
    return read_folder(Path(__file__).parent / name, name, split)


CORPORA: Mapping[str, Callable[[str, str], Corpus]] = {
    "sample": _shipped,
    "sample-books": _shipped,
    "redial": ievalm,
    "opendialkg": ievalm,
    "inspired": inspired,
}
"""What opens each corpus by its name and a split. The first two ship, the others are read from the
folder in the variable RECJURY_DATA."""


def open_corpus(name: str, *, split: str = "test", folder: str = ".") -> Corpus:
    """The corpus with that name, in that folder or file, or made by a `module:function`.

    A relative path is looked for in the current folder and in `folder`. Raises UserError.
    """
    if name in CORPORA:
        return _by_name(name, split, os.environ.get(DATA_VARIABLE, ""))
    if path := _path(name, folder):
        return read_folder(path, _folder(path).resolve().name, split)
    if ":" in name:
        return plugins.returned(name, Corpus)
    raise UserError(
        f"there is no corpus {name!r}{nearest(name, CORPORA)}: corpora are {', '.join(CORPORA)}, "
        "or a folder of your own with items.csv and domain.yaml"
    )


def draw_corpus(name: str, draw: int, *, seed: int = 0, folder: str = ".") -> Corpus:
    """`draw` scenarios over the catalogue of a corpus, of a folder, or of a file in one.

    Raises UserError.
    """
    known = open_corpus(name, folder=folder)
    scenarios = drawn(known.name, known.domain, known.catalogue, draw, seed)
    return known._replace(scenarios=scenarios, skipped=(), dialogues=())


def name_and_folder(name: str, folder: str) -> tuple[str, str]:
    """How the corpus or catalogue of that name is called, and the name that opens its items."""
    path = None if name in CORPORA else _path(name, folder)
    return (name, name) if path is None else (_folder(path).resolve().name, str(_folder(path)))


def _folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


@functools.cache
def _by_name(name: str, split: str, data: str) -> Corpus:  # noqa: ARG001 (other data, other corpus)
    return CORPORA[name](name, split)


def _path(name: str, folder: str) -> Path | None:
    paths = (Path(name).expanduser(), Path(folder) / name)
    return next((path for path in paths if path.exists()), None)
