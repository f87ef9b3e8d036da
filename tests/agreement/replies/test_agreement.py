"""Correlations with people, by subset, with intervals by group."""

import asyncio
from pathlib import Path

import pytest

from recjury.agreement.replies import (
    ScorerContext,
    agreement_table,
    chosen,
    read_rows_of,
    score_rows,
    subsets_of,
)
from recjury.agreement.replies.agreement import SYSTEM_MEAN, SYSTEM_MEAN_OF_OTHERS, system_means
from recjury.agreement.replies.rows import ALL_ROWS, MODEL_OUTPUTS, SETS, averaged_subsets
from recjury.records import Estimate, Speaker
from tests.agreement.replies.rated import row

SET = "dailydialog-grade"


def test_a_score_that_is_missing_leaves_its_row_out_for_its_scorer_alone() -> None:
    rows = [row(number, float(number)) for number in range(20)]
    half: list[float | None] = [float(n) if n % 2 else None for n in range(20)]
    scores: dict[str, list[float | None]] = {
        "same": [float(n) for n in range(20)],
        "half": half,
        "none": [None] * 20,
    }
    table = agreement_table(rows, scores, subsets_of([SET]), resamples=50)
    [found] = table.subsets.values()
    assert [each.n for each in found.values()] == [20, 10, 0]
    assert found["same"].pearson.value == pytest.approx(1)
    assert found["half"].spearman.low == pytest.approx(1)
    assert found["none"].pearson == Estimate(None)


def test_rows_of_a_group_are_drawn_together() -> None:
    """Two groups whose rows agree within and disagree between: intervals reach from -1 to 1."""
    rows = [row(n, float(n % 5), group="one" if n < 5 else "two") for n in range(10)]
    scores = [float(n) if n < 5 else float(-n) for n in range(10)]
    table = agreement_table(rows, {"x": scores}, subsets_of([SET]), resamples=200)
    [found] = table.subsets.values()
    assert (found["x"].pearson.low, found["x"].pearson.high) == pytest.approx((-1, 1))
    assert list(table.groups.values()) == [2]


def test_knowing_the_system_is_worth_nothing_within_systems() -> None:
    rows = [row(n, 1.0 + 3 * (n % 2) + n / 100, source="ab"[n % 2]) for n in range(40)]
    known = system_means(rows)
    table = agreement_table(rows, known, subsets_of([SET]), resamples=20)
    [found] = table.subsets.values()
    mean, of_others = found[SYSTEM_MEAN], found[SYSTEM_MEAN_OF_OTHERS]
    assert mean.pearson.value is not None
    assert mean.pearson.value > 0.9
    assert mean.within.pearson is None
    assert of_others.within.pearson == pytest.approx(-1)


def test_the_views_of_the_real_sets(data_folder: Path) -> None:
    rows = read_rows_of(data_folder / "dialogue-eval")
    subsets = subsets_of(SETS)
    sizes = {
        (subset.set, subset.name): sum(row.set == subset.set and subset.holds(row) for row in rows)
        for subset in subsets
    }
    assert sizes[SET, ALL_ROWS] == 300
    assert sizes["convai2-grade", "BERT ranker, DialoGPT"] == 300
    assert sizes["dailydialog-zhao", MODEL_OUTPUTS] == 700
    assert sizes["topicalchat-usr", "without ground truth"] == 300
    assert sizes["fed-dialogue", MODEL_OUTPUTS] == 84
    assert [len(each) for each in averaged_subsets(subsets).values()] == [6, 6, 5, 5]
    assert averaged_subsets(subsets_of([SET])) == {}
    dialogue = next(row for row in rows if row.set == "fed-dialogue")
    assert dialogue.whole is not None
    spoken = [turn for turn in dialogue.whole.history if turn.speaker is Speaker.SYSTEM]
    assert [each.text for each in dialogue.responses] == [turn.text for turn in spoken]
    assert len({row.group for row in rows if row.set == "fed-turn"}) > 100


@pytest.mark.slow
def test_yardsticks_are_those_of_the_datas_readme(data_folder: Path) -> None:
    """Pearson and Spearman x 100 of words; of the system's mean: "about 71/73, 78/70, 55/53"."""
    names = [
        *dict.fromkeys(subset.set for subset in subsets_of(SETS) if subset.set != "fed-dialogue")
    ]
    rows = read_rows_of(data_folder / "dialogue-eval", names)
    scored = asyncio.run(score_rows(chosen(["length"], model=False), ScorerContext(Path()), rows))
    table = agreement_table(
        rows, {**scored.scores, **system_means(rows)}, subsets_of(names), resamples=2
    )
    found = {
        (subset.set, subset.name): {
            name: (round(100 * (each.pearson.value or 0), 1),
                   round(100 * (each.spearman.value or 0), 1))
            for name, each in row.items()
        }
        for subset, row in table.subsets.items()
    }  # fmt: skip
    words = {place: each["length"] for place, each in found.items()}
    assert words[SET, ALL_ROWS] == (-20.8, -24.4)
    assert words["dailydialog-zhao", MODEL_OUTPUTS] == (-21.5, -25.9)
    assert words["convai2-usr", "without ground truth"] == (31.6, 27.9)
    assert words["topicalchat-usr", MODEL_OUTPUTS] == (3.7, 1.6)
    assert words["fed-turn", ALL_ROWS] == (-2.2, 12.5)
    assert words["empathetic-grade", ALL_ROWS] == (-3.2, -3.5)
    for name, said in {
        "convai2-usr": (71, 73),
        "topicalchat-usr": (78, 70),
        "dailydialog-zhao": (55, 53),
    }.items():
        assert found[name, ALL_ROWS][SYSTEM_MEAN] == pytest.approx(said, abs=1)
