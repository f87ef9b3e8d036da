"""The published correlations, from the released scores; and what perturbed ones do to them."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from recjury.errors import DataError
from recjury.papers.face.face_scores import FaceScores, scores_of_files
from recjury.papers.face.table1 import FaceRow, FaceTable1, face_rows
from recjury.records import Aspect, Level
from recjury.tables import AnalysisInput
from tests.corpora.arena import count_faults, dialogue, scores, write, write_lines

UNDERSTANDING = Aspect.UNDERSTANDING
PUBLISHED = {"redial": "CRSArena-Eval_RD", "opendialkg": "CRSArena-Eval_KG"}


def _row(found: FaceScores, subset: str, aspect: Aspect) -> FaceRow:
    (row,) = (each for each in face_rows(found) if (each.subset, each.aspect) == (subset, aspect))
    return row


def _coverage(row: FaceRow) -> tuple[int, int, int]:
    """Labelled places, those of them with a score, and scores without a label."""
    return row.labelled, row.correlation.n, row.without_label


def test_all_published_correlations_come_out(data_folder: Path) -> None:
    folder = data_folder / "crsarena-eval"
    result = scores_of_files(folder / "face-runs", folder / "crs_arena_eval.json")
    published = json.loads((folder / "baselines.json").read_text())
    compared = 0
    rows = face_rows(result)
    for row in rows:
        said = published[PUBLISHED[row.subset]]["FACE"][row.aspect.replace("dialogue_", "dialog_")]
        for ours, theirs in zip(row.correlation[:2], ("pearson_r", "spearman_rho"), strict=True):
            assert ours is not None
            assert round(ours, 3) == said[theirs], row.aspect
            compared += 1
    assert compared == 28
    n = [row.correlation.n for row in rows]
    assert n == [1286, 1289, *[267] * 5, 929, 931, *[199] * 5]
    assert count_faults(result.problems) == {"missing label": 5}
    assert _coverage(_row(result, "redial", Aspect.INTERESTINGNESS)) == (1299, 1289, 0)
    assert _coverage(_row(result, "opendialkg", Aspect.DIALOGUE_OVERALL)) == (200, 199, 0)


def test_the_means_of_all_aspects_are_the_published_ones(data_folder: Path) -> None:
    folder = data_folder / "crsarena-eval"
    labels = f"crsarena-eval:{folder / 'crs_arena_eval.json'}"
    given = AnalysisInput(store="sqlite://", labels=labels)
    (table,) = asyncio.run(FaceTable1(runs=folder / "face-runs").run(given)).tables
    means = {row["subset"]: row for row in table.as_json() if "mean" in str(row["aspect"])}
    shown = {name: f"{row['pearson']:.3f}; {row['spearman']:.3f}" for name, row in means.items()}
    assert shown == {"redial": "0.551; 0.530", "opendialkg": "0.580; 0.538"}
    assert means["redial"]["published G-Eval"] == "0.433; 0.422"
    assert all(row["published FACE"] == shown[name] for name, row in means.items())
    assert means["redial"]["published UniEval"] is None, "it has three of seven aspects"


def test_other_scores_give_other_correlations(data_folder: Path, tmp_path: Path) -> None:
    """Turned around, the scores correlate as much the other way."""
    folder = data_folder / "crsarena-eval"
    lines = (folder / "face-runs" / "efficiency.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        for turn in row["turns"].values():
            for own in turn["particles"].values():
                own.update({name: 1 - score for name, score in own.items()})
    write_lines(tmp_path / "turned" / "efficiency.jsonl", rows)
    (tmp_path / "as-is").mkdir()
    shutil.copy(folder / "face-runs" / "efficiency.jsonl", tmp_path / "as-is")
    turned, as_is = (
        scores_of_files(tmp_path / name, folder / "crs_arena_eval.json")
        for name in ("turned", "as-is")
    )
    assert list(turned.scores) == [Aspect.EFFICIENCY]
    one, two = (_row(each, "redial", Aspect.EFFICIENCY).correlation for each in (turned, as_is))
    assert one.pearson == pytest.approx(-(two.pearson or 0), abs=1e-7)
    assert one.spearman == pytest.approx(-(two.spearman or 0), abs=1e-12)


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Three dialogues of one subset, labelled 0, 1, 2 on understanding."""
    every = [dialogue(f"kbrd_redial_{n}", understanding=n) for n in range(3)]
    return write(tmp_path / "labels.json", every)


def test_what_has_no_scored_particle_is_unscored(arena: Path, tmp_path: Path) -> None:
    rows = [
        scores("kbrd_redial_0", {1: [{"itr1": 0.0}], 3: [{"itr1": 1.0}]}),
        scores("kbrd_redial_1", {1: [{"itr1": 0.8}]}),
        scores("kbrd_redial_2", {1: []}),
    ]
    write_lines(tmp_path / "runs" / "understanding.jsonl", rows)
    result = scores_of_files(tmp_path / "runs", arena)
    row = _row(result, "redial", UNDERSTANDING)
    assert row.correlation.pearson == pytest.approx(1)
    assert _coverage(row) == (3, 2, 0)
    assert _row(result, "opendialkg", UNDERSTANDING).correlation == (None, None, 0)


def test_scores_outside_the_scale_are_reported_and_left_out_on_demand(
    arena: Path, tmp_path: Path
) -> None:
    rows = [
        scores(f"kbrd_redial_{n}", {1: [{"itr1": score}]}) for n, score in enumerate([0, 1, 20])
    ]
    write_lines(tmp_path / "runs" / "understanding.jsonl", rows)
    as_given = scores_of_files(tmp_path / "runs", arena)
    assert [str(p) for p in as_given.problems] == [
        "kbrd_redial_2, turn 1, understanding: particle 0, itr1: the score 20 is outside 0 to 2"
    ]
    assert _row(as_given, "redial", UNDERSTANDING).correlation.n == 3
    strict = scores_of_files(tmp_path / "runs", arena, strict=True)
    assert _row(strict, "redial", UNDERSTANDING).correlation.n == 2
    assert _coverage(_row(strict, "redial", Aspect.UNDERSTANDING)) == (3, 2, 0)


def test_places_that_the_labels_do_not_know_are_reported(arena: Path, tmp_path: Path) -> None:
    rows = [
        scores("kbrd_redial_0", {2: [{"itr1": 1}], 7: [{"itr1": 1}]}),
        scores("kbrd_redial_9", {1: [{"itr1": 1}]}),
    ]
    write_lines(tmp_path / "runs" / "relevance.jsonl", rows)
    result = scores_of_files(tmp_path / "runs", arena)
    assert [str(problem) for problem in result.problems] == [
        "kbrd_redial_0, turn 2, relevance: is not a turn of the system",
        "kbrd_redial_0, turn 7, relevance: is not a turn of the system",
        "kbrd_redial_9, turn 1, relevance: the label file lacks this conversation",
    ]
    assert Aspect.RELEVANCE.level is Level.TURN
    assert _coverage(_row(result, "redial", Aspect.RELEVANCE)) == (6, 0, 0)


def test_what_is_no_number_and_ids_of_another_shape_leave_the_rest(
    arena: Path, tmp_path: Path
) -> None:
    rows = [
        scores("kbrd_redial_0", {1: [{"itr1": 0.0, "itr2": float("nan")}]}),
        scores("kbrd_redial_1", {1: [{"itr1": 1.0, "itr2": 1e308}]}),
        scores("nobody", {1: [{"itr1": 1.0, "itr2": 1.0}]}),
    ]
    write_lines(tmp_path / "runs" / "understanding.jsonl", rows)
    result = scores_of_files(tmp_path / "runs", arena)
    said = [str(problem) for problem in result.problems]
    assert any("kbrd_redial_0, turn 1" in line and "nan is not a number" in line for line in said)
    assert any("kbrd_redial_1, turn 1" in line and "is not a number" in line for line in said)
    assert any("nobody" in line and "lacks this conversation" in line for line in said)
    assert _row(result, "redial", UNDERSTANDING).correlation.n == 2


@pytest.mark.parametrize("score", ["NaN", "-Infinity", "1e999", "1e300"])
def test_a_pooled_score_that_is_no_number_leaves_the_rest(
    arena: Path, tmp_path: Path, score: str
) -> None:
    rows = [
        f'{{"conv_id": "kbrd_redial_{n}", "turns": [], '
        f'"dial_level_pred": {{"understanding": {own}}}}}'
        for n, own in enumerate(["0.5", score, "2"])
    ]
    path = tmp_path / "run.json"
    path.write_text("[\n" + ",\n".join(rows) + "]\n", "utf-8")
    result = scores_of_files(path, arena)
    (problem,) = result.problems
    assert str(problem).startswith("kbrd_redial_1, understanding: the score ")
    assert str(problem).endswith("is not a number")
    if score != "1e300":  # that one is a number, and as such has no line
        assert f"'{score} ({path}:3)'" in str(problem)
    assert count_faults(result.problems) == {"not a number": 1}
    assert _row(result, "redial", UNDERSTANDING).correlation.n == 2
    assert _coverage(_row(result, "redial", Aspect.UNDERSTANDING)) == (3, 2, 0)


def test_a_label_that_is_no_number_leaves_the_rest(tmp_path: Path) -> None:
    every = [dialogue(f"kbrd_redial_{n}", understanding=[float("nan"), 1][n]) for n in range(2)]
    labels = write(tmp_path / "labels.json", every)
    rows = [scores(f"kbrd_redial_{n}", {1: [{"itr1": 1.0}]}) for n in range(2)]
    write_lines(tmp_path / "runs" / "understanding.jsonl", rows)
    result = scores_of_files(tmp_path / "runs", labels)
    assert [str(problem) for problem in result.problems] == [
        f"kbrd_redial_0, understanding: the label 'NaN ({labels}:1)' is not an integer"
    ]
    assert _row(result, "redial", UNDERSTANDING).correlation.n == 1


@pytest.mark.parametrize(
    "row", [{"conv_id": 5, "turns": {}}, {"conv_id": "a", "turns": {"01": {}}}]
)
def test_a_line_of_another_form_is_named(
    arena: Path, tmp_path: Path, row: dict[str, object]
) -> None:
    write_lines(tmp_path / "runs" / "understanding.jsonl", [row])
    with pytest.raises(DataError, match=r"understanding\.jsonl:1"):
        scores_of_files(tmp_path / "runs", arena)
