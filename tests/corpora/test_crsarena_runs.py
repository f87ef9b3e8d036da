"""Scores per instruction: read as they are given, written back, faults with their places."""

from pathlib import Path
from typing import Any

import pytest

from recjury.corpora.crsarena_runs import read_run, read_runs, run_lines
from recjury.corpora.writing import write_file
from recjury.errors import DataError
from recjury.records import Aspect, ScoreTarget
from tests.corpora.arena import count_faults, scores, write_lines


def test_the_released_scores_are_all_read_and_written_back(
    data_folder: Path, tmp_path: Path
) -> None:
    runs = read_runs(data_folder / "crsarena-eval" / "face-runs")
    assert list(runs) == list(Aspect)
    found = {
        aspect: (len(run.turns), sum(map(len, run.turns.values()))) for aspect, run in runs.items()
    }
    assert found.pop(Aspect.RELEVANCE) == (2215, 6267)
    assert set(found.values()) == {(2220, 6274)}
    assert [problem for run in runs.values() for problem in run.problems] == []
    run = runs[Aspect.EFFICIENCY]
    write_file(tmp_path / "efficiency.jsonl", run_lines(run.turns.items()))
    assert read_run(tmp_path / "efficiency.jsonl", Aspect.EFFICIENCY) == run


def test_turns_and_particles_come_in_any_order(tmp_path: Path) -> None:
    row = scores("a_redial_1", {11: [{"itr1": 1}], 3: [{"itr1": 0.2}, {"itr1": 2}]})
    run = read_run(write_lines(tmp_path / "x.jsonl", [row]), Aspect.RELEVANCE)
    assert run.turns[ScoreTarget("a_redial_1", 3)] == {0: {"itr1": 0.2}, 1: {"itr1": 2.0}}
    assert run.turns[ScoreTarget("a_redial_1", 11)] == {0: {"itr1": 1.0}}


@pytest.mark.parametrize(
    ("score", "said", "kept"),
    [
        (2.5, "particle 0, itr2: the score 2.5 is outside 0 to 2", 2),
        (-0.2, "particle 0, itr2: the score -0.2 is outside 0 to 2", 2),
        ("1", "particle 0, itr2: the score '1' is not a number", 1),
        (None, "particle 0, itr2: the score None is not a number", 1),
        (True, "particle 0, itr2: the score True is not a number", 1),
    ],
)
def test_a_strange_score_is_reported_with_its_place(
    tmp_path: Path, score: object, said: str, kept: int
) -> None:
    row = scores("a_redial_1", {3: [{"itr1": 1, "itr2": score}]})
    run = read_run(write_lines(tmp_path / "x.jsonl", [row]), Aspect.RELEVANCE)
    assert str(run.problems[0]) == f"a_redial_1, turn 3, relevance: {said}"
    assert len(run.turns[ScoreTarget("a_redial_1", 3)][0]) == kept


def test_missing_samples_are_reported_with_their_place(tmp_path: Path) -> None:
    full = {"itr1": 1, "itr2": 1}
    row = scores("a_redial_1", {1: [full, full], 3: [{"itr1": 1}]})
    run = read_run(write_lines(tmp_path / "x.jsonl", [row]), Aspect.RELEVANCE)
    assert [str(p) for p in run.problems] == [
        "a_redial_1, turn 3, relevance: particle 0: 1 of 2 scores"
    ]
    assert count_faults(run.problems) == {"missing score": 1}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([scores("a_redial_1", {})] * 2, "x.jsonl:2: a second 'a_redial_1', as in line 1"),
        ([{"conv_id": "a_redial_1"}], "x.jsonl:1: expected .*KeyError 'turns'"),
        ([{"conv_id": "a", "turns": {"one": {"particles": {}}}}], "x.jsonl:1: expected"),
        ([{"conv_id": "a", "turns": {"1": {"particles": [1]}}}], "x.jsonl:1: expected"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, rows: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_run(write_lines(tmp_path / "x.jsonl", rows), Aspect.RELEVANCE)


def test_a_folder_needs_scores_of_known_aspects(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no scores"):
        read_runs(tmp_path)
    with pytest.raises(DataError, match="there is no such folder"):
        read_runs(tmp_path / "none")
    write_lines(tmp_path / "fluency.jsonl", [scores("a_redial_1", {1: [{"itr1": 1}]})])
    with pytest.raises(DataError, match="'fluency' is not an aspect: expected relevance, "):
        read_runs(tmp_path)
