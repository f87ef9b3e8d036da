"""The measured judges over recorded conversations, where those are."""

from pathlib import Path

import pytest

from benchmarks.measured_distribution import constant, measure, spread
from recjury.judges.measured import MEASURED
from recjury.records import Factor, Rating, Status

# Unscored because they gave one score to nearly everything (docs/measured-judges.md).
UNSCORED = {Factor.APPROPRIATENESS, Factor.DIVERSITY}


@pytest.mark.slow
def test_what_is_scored_varies_over_recorded_conversations(data_folder: Path) -> None:
    """No factor has one score only where it has any; unscored factors have none at all."""
    table = measure(data_folder, 40).table
    assert len(table) == 8
    assert set(constant(table)) == UNSCORED
    for factors in table.values():
        for factor in Factor:
            assert (factors[factor].mean is None) == (factor in UNSCORED)


def test_a_spread_counts_the_unscored_apart() -> None:
    """Shares are of the scored ratings, and the mean is over them."""
    ratings = [
        Rating(evaluator=MEASURED, factor=Factor.NOVELTY, score=score) for score in (4, 4, 1)
    ]
    missing = Rating(
        evaluator=MEASURED,
        factor=Factor.NOVELTY,
        score=None,
        status=Status.NOT_APPLICABLE,
        reason="no list",
    )
    found = spread([*ratings, missing])
    assert found.shares == pytest.approx((0, 1 / 3, 0, 0, 2 / 3))
    assert (found.logs, found.unscored, found.mean) == (4, 0.25, 3.0)
