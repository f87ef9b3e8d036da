"""Corpora open by name or by folder, or say what to do."""

from pathlib import Path

import pytest

from recjury.corpora import corpus_name, data_beside, known_corpus, open_corpus
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
    with pytest.raises(DataError, match="no corpus 'redail': expected redial, opendialkg, "):
        open_corpus("redail")


def test_a_folder_that_lacks_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "films.jsonl").write_text("")
    with pytest.raises(DataError, match=r"no dialogues\.jsonl in "):
        open_corpus(tmp_path)


@pytest.mark.parametrize("name", ["~nobody-at-all", "x" * 5000, "a\0b"])
def test_a_name_that_no_folder_can_have_is_unknown(name: str) -> None:
    with pytest.raises(DataError, match="no corpus"):
        open_corpus(name)
    assert known_corpus(name) is None


@pytest.mark.parametrize(
    ("place", "name"),
    [("opendialkg/test", "opendialkg"), ("my/films/test", "my/films"), ("alone", "alone")],
)
def test_the_corpus_stands_before_the_last_slash(place: str, name: str) -> None:
    assert corpus_name(place) == name


def test_what_conversations_are_about_is_known_by_its_name(tmp_path: Path) -> None:
    sample = known_corpus("sample")
    assert sample is not None
    assert sample.name == "sample"
    assert known_corpus("crsarena-eval") is None
    for file in ("films.jsonl", "dialogues.jsonl"):
        assert known_corpus(str(tmp_path)) is None
        (tmp_path / file).touch()
    own = known_corpus(str(tmp_path))
    assert own is not None
    assert own.name == tmp_path.name


def test_a_folder_of_the_same_name_is_no_corpus_by_chance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    monkeypatch.chdir(tmp_path)
    assert known_corpus("logs") is None


def test_the_public_data_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECJURY_DATA", raising=False)
    with pytest.raises(DataError, match="no data folder"):
        known_corpus("redial")


def test_the_data_lie_beside_the_recordings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECJURY_DATA", raising=False)
    for folder in ("ievalm", "concept"):
        (tmp_path / folder).mkdir()
    recordings = [tmp_path / "elsewhere" / "a.jsonl", tmp_path / "concept" / "b.jsonl"]
    assert data_beside(recordings) == tmp_path.resolve()
    assert data_beside([tmp_path / "a.jsonl"]) is None
    monkeypatch.setenv("RECJURY_DATA", "/named")
    assert data_beside(recordings) is None
