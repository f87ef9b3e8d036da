"""Corpora open by name or by folder, or say what to do."""

from pathlib import Path

import pytest

from recjury.corpora import open_corpus
from recjury.errors import DataError


def test_a_missing_data_folder_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECJURY_DATA", raising=False)
    with pytest.raises(DataError, match="no data folder: set RECJURY_DATA"):
        open_corpus("redial")
    with pytest.raises(DataError, match="nowhere: set RECJURY_DATA"):
        open_corpus("redial", tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"no folder .*ievalm/redial: set RECJURY_DATA"):
        open_corpus("redial", tmp_path)


def test_the_environment_names_the_data_folder(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECJURY_DATA", str(data_folder))
    assert open_corpus("opendialkg").name == "opendialkg"


def test_an_unknown_corpus_is_answered_with_the_known_ones() -> None:
    with pytest.raises(DataError, match="no corpus 'redail': expected redial, opendialkg, sample"):
        open_corpus("redail")


def test_a_folder_that_lacks_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "films.jsonl").write_text("")
    with pytest.raises(DataError, match=r"no dialogues\.jsonl in "):
        open_corpus(tmp_path)
