"""One way into every corpus: by its name, or by the folder of one's own."""

import os
from collections.abc import Iterable
from pathlib import Path

from recjury.corpora.corpus import Corpus
from recjury.corpora.folder import DIALOGUES, FILMS, FolderCorpus, sample_folder
from recjury.corpora.ievalm import DATASETS, IevalmCorpus
from recjury.errors import DataError

DATA_VARIABLE = "RECJURY_DATA"


def open_corpus(name: str | Path, data: Path | None = None) -> Corpus:
    """Open "redial", "opendialkg", "sample", or a folder in the sample's format.

    `data` is the folder that holds `ievalm/` and `concept/`; left out, the environment variable
    RECJURY_DATA names it. The sample and one's own folder need neither. Files are read when
    they are first needed. Raises DataError when the folder or the name is not there.
    """
    if name in DATASETS:
        return IevalmCorpus(str(name), data_folder(data))
    if name == "sample":
        return FolderCorpus(sample_folder(), name="sample")
    folder = _folder(name)
    if folder is None:
        raise DataError(
            f"no corpus {str(name)!r}: expected {', '.join(DATASETS)}, sample, "
            "or a folder that holds films.jsonl and dialogues.jsonl"
        )
    return FolderCorpus(folder, name=folder.resolve().name)


def corpus_name(place: str) -> str:
    """The corpus in "opendialkg/test": what stands before the last slash, or all of it."""
    return place.rpartition("/")[0] or place


def known_corpus(name: str, data: Path | None = None) -> Corpus | None:
    """The corpus that conversations are about which name it so; None where it is not one here.

    A folder that is there by chance ("logs") is none: it holds no films. Raises DataError when
    a corpus of the public data is named, and its data are not there.
    """
    if name in DATASETS or name == "sample":
        return open_corpus(name, data)
    folder = _folder(name)
    if folder is None or not all((folder / file).is_file() for file in (FILMS, DIALOGUES)):
        return None
    return open_corpus(name, data)


def data_beside(paths: Iterable[Path]) -> Path | None:
    """The data folder that recordings lie in, unless the environment names another."""
    folders = (path.resolve().parent.parent for path in paths)
    found = next((folder for folder in folders if (folder / "ievalm").is_dir()), None)
    return None if os.environ.get(DATA_VARIABLE) else found


def data_folder(data: Path | None = None) -> Path:
    """The folder of public data. Raises DataError when none is named or it is not there."""
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
    """The folder of this name; None for what is none, or no name that a folder can have."""
    try:
        folder = Path(name).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError):  # a name that is too long, the home of a user who is not there
        return None
