"""Open a corpus by its name, or by the path of a folder."""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from recjury.corpora.corpus import Corpus
from recjury.corpora.folder import (
    FolderCorpus,
    book_sample_folder,
    is_corpus_folder,
    sample_folder,
)
from recjury.corpora.ievalm import DATASETS, IevalmCorpus
from recjury.errors import DataError

DATA_VARIABLE = "RECJURY_DATA"


def open_corpus(name: str | Path, data: Path | None = None) -> Corpus:
    """Open "redial", "opendialkg", "sample", "sample-books", or a folder in the samples' format.

    `data` is the folder that contains `ievalm/` and `concept/`; the default is the environment
    variable RECJURY_DATA. The samples and a folder of your own need neither. Files are read when
    they are first needed. Raises DataError if the folder does not exist or the name is unknown.
    """
    if name in _CORPORA:
        return _CORPORA[name](data)
    folder = _folder(name)
    if folder is None:
        raise DataError(
            f"no corpus {str(name)!r}: expected {', '.join(map(str, _CORPORA))}, "
            "or a folder that holds dialogues.jsonl and films.jsonl, or items.jsonl and domain.yaml"
        )
    return FolderCorpus(folder, name=folder.resolve().name)


def corpus_name(place: str) -> str:
    """The corpus in "opendialkg/test": the part before the last slash, or the whole name."""
    return place.rpartition("/")[0] or place


def known_corpus(name: str, data: Path | None = None) -> Corpus | None:
    """The corpus with the name that conversations give; None if it is not available here.

    A folder without a catalogue and dialogues.jsonl does not count as a corpus. Raises DataError
    if the name is that of a public corpus whose data are missing.
    """
    if name in _CORPORA:
        return open_corpus(name, data)
    folder = _folder(name)
    if folder is None or not is_corpus_folder(folder):
        return None
    return open_corpus(name, data)


def data_beside(paths: Iterable[Path]) -> Path | None:
    """The data folder that contains the recordings; None if RECJURY_DATA is set."""
    folders = (path.resolve().parent.parent for path in paths)
    found = next((folder for folder in folders if (folder / "ievalm").is_dir()), None)
    return None if os.environ.get(DATA_VARIABLE) else found


def data_folder(data: Path | None = None) -> Path:
    """The folder of public data. Raises DataError if it is not set or does not exist."""
    named = data if data is not None else os.environ.get(DATA_VARIABLE)
    if not named:
        raise DataError(
            f"no data folder: set {DATA_VARIABLE}, or `data` in the campaign file, "
            "to the folder that holds ievalm/ and concept/"
        )
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise DataError(
            f"no data folder {folder}: set {DATA_VARIABLE}, or `data` in the campaign file, "
            "to the folder that holds ievalm/ and concept/"
        )
    return folder


def _folder(name: str | Path) -> Path | None:
    """The folder of this name; None if no such folder exists, or the name is not valid."""
    try:
        folder = Path(name).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError):  # the name is too long, or "~user" is unknown
        return None


def _ievalm(name: str, data: Path | None) -> Corpus:
    return IevalmCorpus(name, data_folder(data))


def _sample(_: Path | None) -> Corpus:
    return FolderCorpus(sample_folder(), name="sample")


def _book_sample(_: Path | None) -> Corpus:
    return FolderCorpus(book_sample_folder(), name="sample-books")


_CORPORA: Mapping[str | Path, Callable[[Path | None], Corpus]] = {
    **{name: partial(_ievalm, name) for name in DATASETS},
    "sample": _sample,
    "sample-books": _book_sample,
}
"""The corpora that have a name, with what opens each; its argument is the folder of public data."""
