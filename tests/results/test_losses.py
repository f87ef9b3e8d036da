"""Lost ratings stand beside the mean: nobody gains by making its bad ratings unreadable."""

import json
import random
from collections.abc import Sequence
from statistics import fmean

import pytest

from recjury.api.stored import _means_table
from recjury.records import Ending, Rating, StageResult, Status, mean_score
from recjury.report.table_cells import means_table
from recjury.results import compare_all, summarise
from recjury.results.answer import answer
from recjury.results.caveats import about_campaign
from recjury.results.losses import WorstCase
from recjury.results.scores import scores_of
from recjury.results.tally import Tally
from recjury.store import ConversationResult, EvaluationResult, Store
from recjury.store.summaries import scores_of_stage
from tests.report.filling import CAMPAIGN, Played, evaluator, fill

CORE = (evaluator("core"),)


def rating(
    score: float | None,
    status: Status = Status.UNREADABLE,
    *,
    turn: int | None = None,
    high: float | None = 4,
) -> Rating:
    return Rating(
        evaluator="m",
        factor="Coherence",
        score=score,
        status=Status.SCORED if score is not None else status,
        reason="" if score is not None else "not read",
        turn=turn,
        low=0,
        high=high,
    )


def worst(*conversations: Sequence[Sequence[Rating]] | None) -> WorstCase | None:
    """The worst case of a system from the ratings of each judging; None is a lost conversation."""
    tally = Tally()
    for number, judgings in enumerate(conversations):
        about = (str(number), "a", f"s{number}", "sample/test", 0)
        evaluations = [
            EvaluationResult(str(n), "m", n, frozenset(), {}, scores_of_stage(StageResult(each)))
            for n, each in enumerate(map(tuple, judgings or ()))
        ]
        lost, log = judgings is None, None if judgings is None else str(number)
        result = ConversationResult(*about, log=log, evaluations=tuple(evaluations), is_lost=lost)
        tally.add(scores_of(result))
    return tally.worst_case("m.coherence")


def test_a_lost_rating_may_have_been_any_score_of_the_scale() -> None:
    assert worst([[rating(2.0)]]) is None
    assert worst([[rating(None)]]) == (1, 0.0, 4.0)
    assert worst([[rating(2.0), rating(None)]]) == (0.5, 1.0, 3.0)
    assert worst([[rating(2.0)], [rating(None)]]) == (0.5, 1.0, 3.0)


def test_what_does_not_apply_is_not_lost() -> None:
    assert worst([[rating(None, Status.NOT_APPLICABLE)]]) is None
    assert worst([[rating(None, Status.NOT_APPLICABLE)]], None) is None


def test_a_scale_without_an_end_has_no_bound() -> None:
    assert worst([[rating(None, high=None)]]) == (1, 0.0, None)


def test_one_per_cent_is_not_shown_and_more_is() -> None:
    scored = [[rating(2.0)]]
    assert worst(*[scored] * 99, [[rating(None)]]) is None
    assert worst(*[scored] * 99, None) is None
    for lost in ([[rating(None)]], None):
        found = worst(*[scored] * 49, lost)
        assert found == pytest.approx((0.02, 1.96, 2.04))
        assert found is not None
        assert found.text(2) == "lost 2 %: 1.96 to 2.04"


def test_a_lost_conversation_lost_as_many_ratings_as_others_have() -> None:
    turns = [rating(3.0, turn=n) for n in range(3)]
    assert worst([turns], [[*turns, rating(None, turn=3)]], None) == pytest.approx(
        ((1 + 2 / 7) / 3, (3 + 9 / 4 + 0) / 3, (3 + 13 / 4 + 4) / 3)
    )


def test_the_bounds_are_the_means_with_an_end_of_the_scale_for_each_lost_rating() -> None:
    drawn = random.Random(3)

    def draw(turn: int) -> Rating:
        lost = drawn.random() < 0.3
        return rating(None if lost else drawn.randint(0, 4), turn=turn)

    for _ in range(200):
        scenarios = [
            [[draw(n % 2) for n in range(drawn.randint(1, 4))] for _ in range(drawn.randint(1, 2))]
            for _ in range(3)
        ]
        ratings = [each for judgings in scenarios for own in judgings for each in own]
        share = fmean(each.score is None for each in ratings)
        ends = [
            fmean(
                fmean(
                    mean_score(
                        [
                            each if each.score is not None else rating(end, turn=each.turn)
                            for each in own
                        ]
                    )
                    or 0.0
                    for own in judgings
                )
                for judgings in scenarios
            )
            for end in (0.0, 4.0)
        ]
        assert worst(*scenarios) == (pytest.approx((share, *ends)) if share else None)


@pytest.mark.parametrize("lost", [1, 0])
def test_every_place_with_a_mean_shows_the_share_and_the_bounds(store: Store, lost: int) -> None:
    """The issue's example: a judge that quotes is unreadable where the system was bad."""
    good = [4.0, *[2.0] * 11]
    bad = [None if lost else 0.0, *[2.0] * 11]
    fill(
        store,
        [Played("a", "1", good), Played("a", "2", bad, unscored=Status.UNREADABLE)],
        evaluators=CORE,
    )
    summary = summarise(store, CAMPAIGN)
    found = summary.systems["a"].worst_case("core.coherence")
    coherence = next(each for each in summary.shown if each.id == "core.coherence")
    (row,) = means_table(summary.systems, [coherence]).rows
    said = "\n".join(each.heading for each in about_campaign(summary))
    shown = summary.systems_json()["a"]["core.coherence"]
    if not lost:
        assert found is None
        assert (row.cells[0].text, row.cells[0].coverage) == ("2.00", None)
        assert "lost" not in said
        assert "lost" not in shown
        return
    assert found == (0.5, 2.0, 4.0)
    assert row.cells[0].text == "4.00"
    assert row.cells[0].coverage == "50 %, lost 50 %: 2.00 to 4.00"
    assert "a lost ratings: Coherence lost 50 %: 2.00 to 4.00" in said
    assert "lost 50 %: 2.00 to 4.00" in _means_table(summary)._repr_html_()
    assert (shown["lost"], shown["worst_low"], shown["worst_high"]) == (0.5, 2.0, 4.0)


LOST = (Ending.SYSTEM_FAILED, Ending.UNANSWERED)


def selective(store: Store, ending: Ending, *, good: float = 80.0, others: float = 60.0) -> None:
    """A fails in the hard half, where B has 40; elsewhere A has `good` scores and B `others`."""
    a = [Played("a", str(n), scores=[(good + n % 2,) * 4]) for n in range(10)]
    a += [Played("a", str(n), failure="no answer", ending=ending) for n in range(10, 20)]
    b = [Played("b", str(n), scores=[(others if n < 10 else 40.0,) * 4]) for n in range(20)]
    fill(store, [*a, *b], evaluators=CORE)


@pytest.mark.parametrize("ending", LOST)
def test_a_conversation_that_the_system_failed_counts_as_lost_ratings(
    store: Store, ending: Ending
) -> None:
    selective(store, ending)
    summary = summarise(store, CAMPAIGN)
    overall = next(each for each in summary.shown if each.id == "core.overall")
    shown = summary.systems_json()["a"]["core.overall"]
    assert (shown["mean"], shown["coverage"], shown["lost"]) == (80.5, 0.5, 0.5)
    assert (shown["worst_low"], shown["worst_high"]) == (40.25, 90.25)
    assert "lost" not in summary.systems_json()["b"]["core.overall"]
    a, b = means_table(summary.systems, [overall]).rows
    assert (a.cells[0].coverage, a.cells[0].is_best) == ("50 %, lost 50 %: 40.2 to 90.2", False)
    assert (b.cells[0].coverage, b.cells[0].is_best) == (None, False)
    assert "lost 50 %: 40.2 to 90.2" in _means_table(summary)._repr_html_()
    found = answer(summary)
    assert (found.best, found.decided) == (None, False)
    assert found.lines[0] == (
        "a has the best mean, 80.5 by Rule verdict (core.overall), lost 50 %: 40.2 to 90.2, but "
        "its lost ratings may put it behind b; none is best."
    )
    failed, lost = about_campaign(summary)[:2]
    assert failed.text.startswith("The ratings of 10 are lost: the system failed, or ")
    assert lost.heading.startswith("a lost ratings: Rule verdict lost 50 %: 40.2 to 90.2, ")
    compared = compare_all(store, "ab")["a", "b"]
    assert lost in compared.caveats
    gap = json.loads(json.dumps(compared.as_json()))["metrics"]["core.overall"]
    assert gap["a"] == {"lost": 0.5, "worst_low": 40.25, "worst_high": 90.25}
    assert "b" not in gap


def test_what_an_endpoint_or_the_budget_broke_off_is_coverage(store: Store) -> None:
    selective(store, Ending.BROKEN_OFF)
    summary = summarise(store, CAMPAIGN)
    shown = summary.systems_json()["a"]["core.overall"]
    assert (shown["coverage"], "lost" in shown) == (0.5, False)
    assert answer(summary).best == "a"
    assert about_campaign(summary)[0].text.startswith("10 only lower the coverage: an endpoint ")


def test_a_lead_that_stands_at_the_worst_is_a_lead(store: Store) -> None:
    a = [Played("a", str(n), scores=[(80.0 + n % 2,) * 4]) for n in range(12)]
    a.append(Played("a", "12", failure="no answer", ending=Ending.SYSTEM_FAILED))
    b = [Played("b", str(n), scores=[(60.0,) * 4]) for n in range(13)]
    fill(store, [*a, *b], evaluators=CORE)
    summary = summarise(store, CAMPAIGN)
    assert (answer(summary).best, answer(summary).decided) == ("a", True)
    overall = next(each for each in summary.shown if each.id == "core.overall")
    assert [row.cells[0].is_best for row in means_table(summary.systems, [overall]).rows] == [
        True,
        False,
    ]


def test_a_system_that_only_leaves_out_its_bad_conversations_is_level(store: Store) -> None:
    """It is a copy of B that raises where B is bad: there is no lead of 0.0."""
    selective(store, Ending.SYSTEM_FAILED, good=80.0, others=80.5)
    first = answer(summarise(store, CAMPAIGN)).lines[0]
    assert first.endswith("but b is level with it on the scenarios of both; none is best.")


def test_a_lost_repeat_is_no_further_scenario(store: Store) -> None:
    played = [
        Played("a", "1", scores=[(60.0,) * 4], pair="one"),
        Played("a", "1", failure="-", ending=Ending.SYSTEM_FAILED, repeat=1, pair="one"),
        Played("a", "2", scores=[(80.0,) * 4]),
    ]
    fill(store, played, evaluators=CORE)
    found = summarise(store, CAMPAIGN).systems["a"].worst_case("core.overall")
    assert found == pytest.approx((1 / 3, (30 + 80) / 2, (80 + 80) / 2))
