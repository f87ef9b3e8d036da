"""The parts a page is made of: excerpts, examples chosen, rounds, intervals, numbers as text."""

import numpy as np
import pytest

from recjury.records import Role
from recjury.report.excerpt import excerpt, one_line
from recjury.report.ranking import Ranking
from recjury.report.rounds import RoundTally
from recjury.report.scores import TrialScores
from recjury.report.tables import coverage_text, p_text
from recjury.stats.resampling import interval_of_mean
from tests.report.filling import Played


def test_excerpts_say_when_they_are_cut() -> None:
    assert excerpt("short", 10) == ("short", None)
    assert excerpt("a" * 11, 10) == ("a" * 10, 11)
    assert excerpt("l\n" * 100, 1000).text.count("\n") < 40
    assert excerpt("l\n" * 100, 1000).whole == 200
    assert excerpt("a\x00b\ud800c", 10).text == "a�b�c"
    assert one_line("a\n  b", 10) == "a b"
    assert one_line("a" * 50, 10) == "a" * 9 + "…"


def _trial(name: str, overall: float | None) -> TrialScores:
    measures = {"Overall": overall}
    return TrialScores(name, "s", "c", name, False, measures, 0, 0, frozenset())


def test_three_examples_are_the_best_the_median_and_the_worst() -> None:
    ranking = Ranking()
    for name, score in (("low", 1.0), ("top", 9.0), ("mid", 5.0), ("none", None), ("x", 4.0)):
        ranking.add(_trial(name, score))
    ranking.add(_trial("y", 6.0))
    assert [choice.trial for choice in ranking.choose(3)] == ["top", "mid", "low"]
    assert [choice.stands_for.split()[0] for choice in ranking.choose(3)] == [
        "best",
        "median",
        "worst",
    ]
    assert [choice.trial for choice in ranking.choose(1)] == ["mid"]
    assert len({choice.trial for choice in ranking.choose(9)}) == 5


def test_a_debate_that_has_ended_counts_on_with_its_last_scores() -> None:
    tally = RoundTally()
    short = Played("a", "1", scores=[(40.0,) * 4])
    long = Played("a", "2", scores=[(0.0, 100.0, 0.0, None), (20.0, 80.0, 0.0, None)])
    for one in (short, long):
        tally.add(one.debate()[0])
    means = tally.means()
    assert means is not None
    assert means.debating == (2, 1)
    assert means.scores[Role.COMMON_USER] == (20.0, 30.0)
    assert means.scores[Role.HCI_EXPERT] == (40.0, 40.0)
    assert RoundTally().means() is None


def test_the_interval_of_a_mean_agrees_with_the_normal_one() -> None:
    values = np.random.default_rng(3).integers(0, 101, 500).astype(float)
    interval = interval_of_mean(values.tolist())
    half = 1.96 * values.std(ddof=1) / np.sqrt(500)
    assert interval is not None
    assert interval.low == pytest.approx(values.mean() - half, abs=0.3)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.3)
    assert interval_of_mean([5.0]) is None
    assert interval_of_mean([5.0, 5.0, 5.0]) == (5.0, 5.0)


def test_numbers_never_round_to_more_than_they_are() -> None:
    assert coverage_text(0.9999) == "99 %"
    assert coverage_text(0.0001) == "<1 %"
    assert coverage_text(0.5) == "50 %"
    assert coverage_text(1.0) == "100 %"
    assert (p_text(0.0002), p_text(0.0123), p_text(1.0), p_text(None)) == (
        "<.001",
        ".012",
        "1",
        "–",
    )
