"""People's scores from Python: a task, its labels, and judges held against them."""

import json
from pathlib import Path

import pytest

import recjury
from tests.agreement.annotation.tasks import key_of, saved, store_with
from tests.cli.front_door import Command


@pytest.fixture
def stored(command: Command, tmp_path: Path) -> recjury.Stored:
    """A store of two systems and six records, in an empty folder."""
    return recjury.open(store_with(tmp_path, records=6))


def _labels(stored: recjury.Stored) -> None:
    """labels.json of two raters; the verdict of a record is 10 times its number."""
    stored.annotate("task", raters=["anna", "ben"], questions=["overall", "naturalness"])
    key = key_of(Path("task"))
    files = []
    for place, rater in enumerate(("anna", "ben")):
        given = []
        for name, question in key.task.asked(rater):
            record = int(key.logs[name].scenario.record)
            score = 10 * record + place if question == "overall" else (record + 4) % 5
            given.append((name, question, score))
        files.append(saved(key, rater, given, Path(f"{rater}.json")))
    found = recjury.import_labels("task/key.json", files)
    assert found.raters["anna"].answered == 24
    assert found.questions["overall"].labelled == 12
    assert found.questions["overall"].alpha == pytest.approx(1, abs=0.05)


def test_a_task_its_labels_and_the_agreement(stored: recjury.Stored, command: Command) -> None:
    _labels(stored)
    found = stored.align("annotations:labels.json", resamples=200)["sample/test"]
    own = found["overall"].metrics["core.overall"].estimates
    assert own is not None
    assert own.pearson.value == pytest.approx(1, abs=0.01)
    assert found["overall"].ceiling is not None
    other = stored.align(
        "annotations:labels.json", pairs=["core.coherence=overall"], resamples=200
    )["sample/test"]
    assert "core.coherence" in other["overall"].metrics
    ended = command("align", "--store", stored.url, "--labels", "annotations:labels.json",
                    "--resamples", "200", "--json")  # fmt: skip
    same = json.loads(ended.out)["sample/test"]["overall"]["pearson"]
    assert same["value"] == own.pearson.value
    assert same["low"] == own.pearson.low


def test_analyses_are_those_of_the_command_line(stored: recjury.Stored, command: Command) -> None:
    _labels(stored)
    labels = "annotations:labels.json"
    found = stored.analyse("core.rq2", labels=labels, resamples=100)
    (row,) = found["factors"].as_json()
    assert (row["factor"], row["best"]) == ("naturalness", "measured")
    assert "<table>" in found["factors"]._repr_html_()
    ended = command(
        "analyse", "core.rq2", "--store", stored.url, "--labels", labels, "--set", "resamples=100",
        "--json",
    )  # fmt: skip
    assert json.loads(ended.out)["tables"] == found.as_json()["tables"]
    for name, settings, said in (
        ("core.rq7", {}, "did you mean"),
        ("core.rq1", {"resample": 1}, "did you mean 'resamples'"),
        ("core.rq2", {}, "needs --labels"),
    ):
        with pytest.raises(recjury.UserError, match=said):
            stored.analyse(name, **settings)  # type: ignore[arg-type]


def test_what_cannot_be_is_one_line(stored: recjury.Stored) -> None:
    for wrong, said in (
        ({"raters": 2, "design": "other"}, "design must be all or core"),
        ({}, "--raters is missing"),
        ({"raters": "a b"}, "is no name of a rater"),
        ({"raters": 1}, "2 raters a conversation"),
        ({"raters": 2, "questions": ["beauty"]}, "beauty"),
    ):
        with pytest.raises(recjury.UserError, match=said):
            stored.annotate("task", **wrong)
    stored.annotate("task", raters=2)
    with pytest.raises(recjury.UserError, match="exists already"):
        stored.annotate("task", raters=2)
    with pytest.raises(recjury.UserError, match="cannot be read"):
        recjury.import_labels("none.json", "answers.json")
    with pytest.raises(recjury.UserError, match="combine must be"):
        recjury.import_labels("task/key.json", "a.json", combine="best")  # type: ignore[arg-type]
    with pytest.raises(recjury.UserError, match="from 0 to 1"):
        recjury.import_labels("task/key.json", "a.json", exclude_below=3)
    with pytest.raises(recjury.UserError, match="expected one of crsarena-eval:PATH"):
        stored.align("labels.json")
