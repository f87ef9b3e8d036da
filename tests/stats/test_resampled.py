"""Correlations over resamples are SciPy's over the same resamples."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau, pearsonr, spearmanr

from recjury.stats.grouped import correlate_within
from recjury.stats.resampled import correlations

N = 60


def _sample() -> tuple[list[float], list[float], list[str], list[str]]:
    rng = np.random.default_rng(5)
    system = rng.integers(0, 3, N)
    labels = np.clip(np.round(system + rng.normal(size=N)), 0, 4)
    scores = np.round(labels + rng.normal(size=N), 1)
    clusters = [f"c{place // 2}" for place in range(N)]
    return scores.tolist(), labels.tolist(), clusters, system.astype(str).tolist()


def test_the_values_are_those_of_scipy() -> None:
    x, y, clusters, groups = _sample()
    found = correlations(x, y, clusters, groups, resamples=10)
    within = correlate_within(x, y, groups)
    assert found.pearson.value == pytest.approx(pearsonr(x, y).statistic)
    assert found.spearman.value == pytest.approx(spearmanr(x, y).statistic)
    assert found.kendall.value == pytest.approx(kendalltau(x, y).statistic)
    assert found.within_pearson.value == pytest.approx(within.pearson)
    assert found.within_spearman.value == pytest.approx(within.spearman)
    assert found.n == N


def test_the_intervals_are_those_of_scipy_over_the_same_draws() -> None:
    x, y, clusters, groups = _sample()
    found = correlations(x, y, clusters, groups, resamples=200, seed=9)
    names, place = np.unique(clusters, return_inverse=True)
    counts = np.random.default_rng(9).multinomial(
        len(names), np.full(len(names), 1 / len(names)), size=200
    )
    drawn = [np.repeat(np.arange(N), row[place]) for row in counts]
    a, b = np.array(x), np.array(y)
    kinds: dict[str, Callable[[NDArray[np.int64]], float | None]] = {
        "pearson": lambda k: pearsonr(a[k], b[k]).statistic,
        "spearman": lambda k: spearmanr(a[k], b[k]).statistic,
        "kendall": lambda k: kendalltau(a[k], b[k]).statistic,
        "within_pearson": lambda k: correlate_within(a[k], b[k], np.array(groups)[k]).pearson,
        "within_spearman": lambda k: correlate_within(a[k], b[k], np.array(groups)[k]).spearman,
    }
    for name, statistic in kinds.items():
        bounds = np.quantile(
            np.array([statistic(each) for each in drawn], dtype=float), [0.025, 0.975]
        )
        own = getattr(found, name)
        assert (own.low, own.high) == pytest.approx(tuple(bounds)), name


@pytest.mark.parametrize(("x", "y"), [([1.0] * 6, [1, 2, 3, 4, 5, 6]), ([1, 2, 3], [0.1] * 3)])
def test_a_side_that_does_not_vary_has_no_correlation(x: list[float], y: list[float]) -> None:
    names = [str(place) for place in range(len(x))]
    found = correlations(x, y, names, ["s"] * len(x), resamples=50)
    assert found.pearson.value is None
    assert found.spearman.low is None
    assert found.kendall.value is None


def test_systems_that_never_differ_within_have_no_correlation_within() -> None:
    values = [1.1, 1.1, 2.3, 2.3, 3.7, 3.7]
    groups = ["a", "a", "b", "b", "c", "c"]
    found = correlations(values, values, list("abcdef"), groups, resamples=100)
    assert found.pearson.value == pytest.approx(1)
    assert found.within_pearson.value is None
    assert found.within_spearman.value is None


def test_the_interval_of_a_known_correlation_covers_it() -> None:
    rng = np.random.default_rng(6)
    covered, draws = 0, 80
    for seed in range(draws):
        x = rng.normal(size=100)
        y = 0.6 * x + 0.8 * rng.normal(size=100)
        names = np.arange(100).astype(str)
        found = correlations(x, y, names, ["s"] * 100, resamples=300, seed=seed)
        assert found.pearson.low is not None
        assert found.pearson.high is not None
        covered += found.pearson.low <= 0.6 <= found.pearson.high
    assert 0.87 <= covered / draws <= 0.995


def test_lengths_that_differ_and_nothing_at_all_are_errors() -> None:
    with pytest.raises(ValueError, match="lengths differ"):
        correlations([1], [1, 2], ["a"], ["s"])
    with pytest.raises(ValueError, match="nothing to correlate"):
        correlations([], [], [], [])
