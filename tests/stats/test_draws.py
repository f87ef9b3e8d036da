"""The cluster bootstrap against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from recjury.stats import Draws, interval


def test_the_first_draw_is_the_mean() -> None:
    x = [1.0, 2.0, float("nan"), 4.0]
    assert Draws(["a", "b", "c", "d"]).mean(x)[0] == pytest.approx(7 / 3)


def test_an_interval_agrees_with_scipy() -> None:
    x = np.random.default_rng(1).normal(2, 1, 60)
    low, high = interval(Draws(np.arange(60), times=5000).mean(x))
    other = stats.bootstrap((x,), np.mean, n_resamples=5000, method="percentile", rng=2)
    assert low == pytest.approx(other.confidence_interval.low, abs=0.03)
    assert high == pytest.approx(other.confidence_interval.high, abs=0.03)


def test_clusters_are_drawn_whole() -> None:
    """Equal copies of an observation add nothing: the interval is that of the clusters."""
    x = np.random.default_rng(3).normal(0, 1, 30)
    once = interval(Draws(np.arange(30)).mean(x))
    twice = interval(Draws(np.repeat(np.arange(30), 2)).mean(np.repeat(x, 2)))
    assert once == pytest.approx(twice)


@pytest.mark.parametrize("values", [[float("nan")], [4.0], [71.5] * 6, [0.1] * 40])
def test_what_does_not_vary_has_no_interval(values: list[float]) -> None:
    """Nothing is observed, one scenario is, or all are equal."""
    assert np.isnan(interval(Draws(range(len(values))).mean(values))).all()
