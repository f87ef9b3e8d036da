"""Accuracy on pairs of a reply and a worse version."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from recjury.agreement.replies import ScorerContext, chosen, margins, robustness_table
from recjury.agreement.replies.robustness import SHORTER, attack_accuracies
from recjury.corpora.dialogues import RobustnessPair
from recjury.judges.surface import LengthScorer
from recjury.records import Response


def pair(original: str, worse: str, attack: str = "dullness") -> RobustnessPair:
    return RobustnessPair(original, attack, (), original, worse, ())


def test_ties_and_unscored_pairs_do_not_win() -> None:
    pairs = [pair("a", "b")] * 4
    [found] = attack_accuracies(pairs, [0.2, 0.0, None, -1.0]).values()
    assert found == (0.25, 4, 1, 1)


def test_equal_pairs_are_dropped_and_length_is_shown_beside() -> None:
    pairs = [
        pair("one two three", "one"),
        pair("one", "one"),
        pair("one", "one one", "repetition"),
        pair("one", "two", "repetition"),
    ]
    entries = chosen(["length", "bleu-2"], model=False)
    found = asyncio.run(robustness_table(entries, ScorerContext(Path()), pairs))
    assert set(found.scorers) == {SHORTER, "length"}
    assert found.dropped == {"dullness": 1}
    assert {name: each.accuracy for name, each in found.scorers["length"].items()} == {
        "dullness": 1.0,
        "repetition": 0.0,
    }
    assert found.means == {SHORTER: 0.25, "length": 0.5}


def test_a_scorer_that_reads_both_is_asked_for_its_preference() -> None:
    class Judge(LengthScorer):
        async def preferences(
            self, pairs: Sequence[tuple[Response, Response]]
        ) -> list[float | None]:
            return [0.75 if one.text > two.text else None for one, two in pairs]

    assert asyncio.run(margins(Judge(), [pair("b", "a"), pair("a", "b")])) == [0.25, None]
    assert asyncio.run(margins(LengthScorer(), [pair("b c", "a")])) == [1.0]


def test_the_real_pairs(data_folder: Path) -> None:
    from recjury.corpora.dialogues import read_robustness_pairs

    pairs = tuple(read_robustness_pairs(data_folder / "dialogue-eval"))
    found = asyncio.run(
        robustness_table(chosen(["length"], model=False), ScorerContext(Path()), pairs)
    )
    assert len(pairs) == 13_548
    assert sum(found.dropped.values()) == pytest.approx(209, abs=5)
    shorter = found.scorers[SHORTER]
    assert shorter["repetition"].accuracy == shorter["speaker"].accuracy == 1.0
    assert len(shorter) == 9
