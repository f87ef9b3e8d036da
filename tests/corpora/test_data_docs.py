"""The examples of docs/data.md are of the forms that it says, and are read."""

import json
from pathlib import Path

import pytest

from recjury.corpora import read_recordings
from recjury.corpora.concept import read_concept
from recjury.corpora.forms import FORMS, form_of
from recjury.records import ConversationLog

TEXT = (Path(__file__).parents[2] / "docs" / "data.md").read_text("utf-8")


def _example(folder: Path, form: str) -> Path:
    text = TEXT.split(f"```json-{'line' if form == 'jsonl' else form}\n")[1].split("```")[0]
    if form == "recjury":
        log = ConversationLog.model_validate(json.loads(text)["log"])
        assert f'"{log.id}"' in text
    path = folder / "example.jsonl"
    path.write_text(" ".join(text.split()))
    return path


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_shown_and_found_out(tmp_path: Path, form: str) -> None:
    assert f"| [`{form}`](#" in TEXT
    assert form_of(_example(tmp_path, form)) == form


@pytest.mark.parametrize("form", sorted({*FORMS} - {"concept"}))
def test_each_example_is_read(tmp_path: Path, form: str) -> None:
    (one,) = read_recordings([_example(tmp_path, form)])
    assert len(one.log.system_turns) in (1, 2)
    if form == "recjury":
        assert one.identity != one.log.id
    if form == "jsonl":
        assert one.log.recall_at(10) == 1.0


def test_the_example_of_concept_is_read(data_folder: Path, tmp_path: Path) -> None:
    (log,) = read_concept(_example(tmp_path, "concept"), data_folder)
    assert log.system == "kbrd_opendialkg"
    assert log.scenario.targets
    assert log.interaction[-1].text == "Crime films."
