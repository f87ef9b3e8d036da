"""Open a corpus by its name, or by the path of a folder."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from recjury.corpora.corpus import Corpus
from recjury.corpora.folder import (
    FolderCorpus,
    book_sample_folder,
    is_corpus_folder,
    sample_folder,
)
from recjury.corpora.ievalm import IevalmCorpus
from recjury.corpora.inspired import InspiredCorpus
from recjury.errors import DataError, UserError
from recjury.plugins import Registry, describe_exception

DATA_VARIABLE = "RECJURY_DATA"


def open_corpus(name: str | Path, data: Path | None = None) -> Corpus:
    """Open a corpus by its name, "module:function" (or a class) of your own, or a folder.

    A folder has the samples' format. `data` is the folder that contains `ievalm/` and `concept/`;
    the default is the environment variable RECJURY_DATA. The samples and a folder of your own need
    neither. Files are read when they are first needed. Raises DataError if the folder does not
    exist or the name is unknown, and ConfigError if a corpus of your own cannot be imported.
    """
    if name in CORPORA.built_in:
        return CORPORA.load(str(name))(data)
    if is_own_corpus(str(name)):
        return _own_corpus(str(name), data)
    folder = _folder(name)
    if folder is None:
        raise DataError(
            f"no corpus {str(name)!r}: expected {', '.join(CORPORA.names)}, module:function, "
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
    if name in CORPORA.built_in or is_own_corpus(name):
        return open_corpus(name, data)
    folder = _folder(name)
    if folder is None or not is_corpus_folder(folder):
        return None
    return open_corpus(name, data)


def data_beside(paths: Iterable[Path]) -> Path | None:
    """The data folder that contains the recordings; None if RECJURY_DATA is set."""
    folders = (Path(os.path.realpath(path)).parent.parent for path in paths)
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


def redial(data: Path | None) -> Corpus:
    """ReDial, as iEvaLM-CRS (Wang et al. 2023) prepared it."""
    return IevalmCorpus("redial", data_folder(data))


def opendialkg(data: Path | None) -> Corpus:
    """OpenDialKG, as iEvaLM-CRS (Wang et al. 2023) prepared it."""
    return IevalmCorpus("opendialkg", data_folder(data))


def inspired(data: Path | None) -> Corpus:
    """INSPIRED (Hayati et al. 2020): people persuade others to watch films."""
    return InspiredCorpus(data_folder(data))


def sample(data: Path | None) -> Corpus:  # noqa: ARG001 (it is in the package)
    """The shipped sample: conversations about films."""
    return FolderCorpus(sample_folder(), name="sample")


def sample_books(data: Path | None) -> Corpus:  # noqa: ARG001 (as above)
    """The shipped sample about books."""
    return FolderCorpus(book_sample_folder(), name="sample-books")


_HERE = "recjury.corpora.opening"
CORPORA: Registry[Callable[[Path | None], Corpus]] = Registry(
    "corpus",
    "recjury.corpora",
    {
        "redial": f"{_HERE}:redial",
        "opendialkg": f"{_HERE}:opendialkg",
        "inspired": f"{_HERE}:inspired",
        "sample": f"{_HERE}:sample",
        "sample-books": f"{_HERE}:sample_books",
    },
    plural="corpora",
)
"""What opens a corpus by its name; the argument is the folder of public data, if one is given."""


def is_own_corpus(name: str) -> bool:
    """Whether the name is that of a corpus of one's own, which may fail in any way."""
    is_named = name in CORPORA.names or (":" in name and _folder(name) is None)
    return is_named and name not in CORPORA.built_in


def _own_corpus(name: str, data: Path | None) -> Corpus:
    """Raises DataError for whatever the user's code does."""
    opened = CORPORA.load(name)
    try:
        corpus = opened(data)
        own = corpus.name
    except UserError:
        raise
    except Exception as error:  # code of the user's may do anything
        raise DataError(f"the corpus {name}: {describe_exception(error)}") from error
    if own != name:
        raise DataError(
            f"the corpus {name} says that its name is {own!r}: conversations could not be traced "
            f"to it; set name = {name!r}"
        )
    return corpus
