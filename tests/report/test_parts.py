"""The parts a page is made of: excerpts, examples chosen, rounds, intervals, numbers as text."""

import numpy as np
import pytest

from recjury.records import Metric, Rating, Role, StageResult
from recjury.report.example_picks import ExamplePicker
from recjury.report.excerpt import excerpt, one_line
from recjury.report.rounds import RoundTally
from recjury.report.table_cells import coverage_text, hyphenated, p_text
from recjury.results import Measure
from recjury.results.scores import ConversationScores, ScoreForm
from recjury.stats.resampling import interval_of_mean
from recjury.store.summaries import scores_of_stage
from tests.report.filling import Played


def test_excerpts_say_when_they_are_cut() -> None:
    assert excerpt("short", 10) == ("short", None)
    assert excerpt("a" * 11, 10) == ("a" * 10, 11)
    assert excerpt("l\n" * 100, 1000).text.count("\n") < 40
    assert excerpt("l\n" * 100, 1000).whole == 200
    assert excerpt("a\x00b\ud800c", 10).text == "a�b�c"
    assert one_line("a\n  b", 10) == "a b"
    assert one_line("a" * 50, 10) == "a" * 9 + "…"


MEASURES = (
    Measure("own.share", "own", Metric(id="share", title="Share", high=1)),
    Measure("own.all", "own", Metric(id="all", title="All in all", high=100)),
)


def _scores(name: str, values: dict[str, float]) -> ConversationScores:
    ratings = (
        Rating(evaluator="x", factor=measure.partition(".")[2], score=value, high=100)
        for measure, value in values.items()
    )
    given = scores_of_stage(StageResult(tuple(ratings)))
    form = ScoreForm([("own", given.layout)])
    scores = tuple(values.values())
    return ConversationScores(name, "s", "c", name, False, True, form, scores)


def test_three_examples_are_the_best_the_median_and_the_worst() -> None:
    ranking = ExamplePicker(MEASURES)
    for name, score in (("low", 1.0), ("top", 9.0), ("mid", 5.0), ("x", 4.0), ("y", 6.0)):
        ranking.add(_scores(name, {"own.all": score, "own.share": 1 - score / 10}))
    ranking.add(_scores("none", {"own.share": 1.0}))
    assert [choice.conversation for choice in ranking.choose(3)] == ["top", "mid", "low"]
    assert [choice.stands_for for choice in ranking.choose(3)] == [
        "best of 5 by all in all",
        "median of 5 by all in all",
        "worst of 5 by all in all",
    ]
    assert [choice.conversation for choice in ranking.choose(1)] == ["mid"]
    assert len({choice.conversation for choice in ranking.choose(9)}) == 5


def test_without_a_score_out_of_a_hundred_all_scales_rank_and_without_any_none() -> None:
    lower = Metric(id="errors", title="Errors", high=10, higher_is_better=False)
    measures = (MEASURES[0], Measure("own.errors", "own", lower))
    ranking = ExamplePicker(measures)
    ranking.add(_scores("unscored", {}))
    assert ranking.choose(1)[0].stands_for == "one of 1, none of them scored"
    ranking.add(_scores("good", {"own.share": 0.5, "own.errors": 0.0}))
    ranking.add(_scores("bad", {"own.share": 0.9, "own.errors": 10.0}))
    assert [choice.conversation for choice in ranking.choose(2)] == ["good", "bad"]
    assert ranking.choose(2)[0].stands_for == "best of 2 by mean score"


def test_long_words_may_be_broken_in_narrow_columns() -> None:
    assert hyphenated("Grammatical Correctness") == "Grammat\xadical Correct\xadness"
    assert hyphenated("Interestingness") == "Interest\xadingness"
    assert hyphenated("Overall") == "Overall"


def test_a_debate_that_has_ended_counts_on_with_its_last_scores() -> None:
    tally = RoundTally()
    short = Played("a", "1", scores=[(40.0,) * 4])
    long = Played("a", "2", scores=[(0.0, 100.0, 0.0, None), (20.0, 80.0, 0.0, None)])
    for one in (short, long):
        scores = scores_of_stage(StageResult(debate=one.debate()))
        tally.add(scores.layout.said, scores.said)
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
