"""A corpus small enough to train on in a second."""

import json
from pathlib import Path

import pytest

from recjury.corpora import Corpus, open_corpus
from recjury.corpora.folder import sample_folder

_DIALOGUES = {"train": 120, "valid": 30, "test": 10}


@pytest.fixture(scope="session")
def few_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's films with 160 of its dialogues."""
    folder = tmp_path_factory.mktemp("corpora") / "few"
    folder.mkdir()
    _write_few(folder)
    return folder


@pytest.fixture(scope="session")
def few(few_folder: Path) -> Corpus:
    """The corpus of `few_folder`."""
    return open_corpus(str(few_folder))


def _write_few(folder: Path) -> None:
    sample = sample_folder()
    (folder / "films.jsonl").write_bytes((sample / "films.jsonl").read_bytes())
    lines = (sample / "dialogues.jsonl").read_text("utf-8").splitlines()
    chosen = [
        line
        for split, number in _DIALOGUES.items()
        for line in [each for each in lines if json.loads(each)["split"] == split][:number]
    ]
    (folder / "dialogues.jsonl").write_text("\n".join(chosen) + "\n", "utf-8")
