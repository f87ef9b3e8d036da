"""One way into every corpus: by its name, or by the folder of one's own."""

import os
from pathlib import Path

from recjury.corpora.corpus import Corpus
from recjury.corpora.folder import FolderCorpus, sample_folder
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
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise DataError(
            f"no corpus {str(name)!r}: expected {', '.join(DATASETS)}, sample, "
            "or a folder that holds films.jsonl and dialogues.jsonl"
        )
    return FolderCorpus(folder, name=folder.resolve().name)


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
