"""Lost ratings stand beside the mean: nobody gains by making its bad ratings unreadable."""

import pytest

from recjury.api.stored import _means_table
from recjury.records import Rating, Status
from recjury.report.table_cells import means_table
from recjury.results import summarise
from recjury.results.caveats import about_campaign
from recjury.results.losses import Losses, worst_case
from recjury.store import Store
from tests.report.filling import CAMPAIGN, Played, evaluator, fill


def rating(score: float | None, status: Status = Status.UNREADABLE) -> Rating:
    reason = "" if score is not None else "not read"
    status = Status.SCORED if score is not None else status
    return Rating(
        evaluator="m", factor="Coherence", score=score, status=status, reason=reason, low=0, high=4
    )


def test_a_lost_rating_may_have_been_any_score_of_the_scale() -> None:
    assert Losses.among([[rating(2.0)]]) == (1, 0, 2.0, 2.0)
    assert Losses.among([[rating(None)]]) == (1, 1, 0.0, 4.0)
    assert Losses.among([[rating(2.0), rating(None)]]) == (2, 1, 1.0, 3.0)
    assert Losses.among([[rating(2.0)], [rating(None)]]) == (2, 1, 1.0, 3.0)


def test_what_does_not_apply_is_not_lost() -> None:
    assert Losses.among([[rating(None, Status.NOT_APPLICABLE)]]) == (0, 0, None, None)


def test_a_scale_without_an_end_has_no_bound() -> None:
    open_ended = rating(None).model_copy(update={"high": None})
    assert Losses.among([[open_ended]]) == (1, 1, 0.0, None)


def test_one_per_cent_is_not_shown_and_more_is() -> None:
    scored = Losses.among([[rating(2.0)]])
    lost = Losses.among([[rating(None)]])
    assert worst_case([[scored]] * 99 + [[lost]], 0.01) is None
    worst = worst_case([[scored]] * 49 + [[lost]], 0.02)
    assert worst is not None
    assert worst == pytest.approx((0.02, 1.96, 2.04))
    assert worst.text(2) == "lost 2 %: 1.96 to 2.04"


@pytest.mark.parametrize("lost", [1, 0])
def test_every_place_with_a_mean_shows_the_share_and_the_bounds(store: Store, lost: int) -> None:
    """The issue's example: a judge that quotes is unreadable where the system was bad."""
    core = (evaluator("core"),)
    good = [4.0, *[2.0] * 11]
    bad = [None if lost else 0.0, *[2.0] * 11]
    fill(
        store,
        [Played("a", "1", good), Played("a", "2", bad, unscored=Status.UNREADABLE)],
        evaluators=core,
    )
    summary = summarise(store, CAMPAIGN)
    worst = summary.systems["a"].worst_case("core.coherence")
    coherence = next(each for each in summary.shown if each.id == "core.coherence")
    (row,) = means_table(summary.systems, [coherence]).rows
    said = "\n".join(each.heading for each in about_campaign(summary))
    shown = summary.systems_json()["a"]["core.coherence"]
    if not lost:
        assert worst is None
        assert (row.cells[0].text, row.cells[0].coverage) == ("2.00", None)
        assert "lost" not in said
        assert "lost" not in shown
        return
    assert worst == (0.5, 2.0, 4.0)
    assert row.cells[0].text == "4.00"
    assert row.cells[0].coverage == "50 %, lost 50 %: 2.00 to 4.00"
    assert "a lost ratings: Coherence lost 50 %: 2.00 to 4.00" in said
    assert "lost 50 %: 2.00 to 4.00" in _means_table(summary)._repr_html_()
    assert (shown["lost"], shown["worst_low"], shown["worst_high"]) == (0.5, 2.0, 4.0)
