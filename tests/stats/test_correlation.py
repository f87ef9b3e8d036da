"""Correlations agree with SciPy's, row by row, and are undefined where nothing varies."""

import numpy as np
import pytest
from scipy import stats

from recjury.stats.correlation import correlate, correlate_rows, pearson, ranks, spearman


@pytest.mark.parametrize("seed", range(5))
def test_both_agree_with_scipy_with_many_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 5, 80) / 5
    y = rng.integers(0, 3, 80) + 10 * x
    found = correlate(x.tolist(), y.tolist())
    assert found.pearson == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found.n == 80
    assert (found.pearson, found.spearman) == (
        pearson(x.tolist(), y.tolist()),
        spearman(x.tolist(), y.tolist()),
    )


def test_ties_share_the_mean_of_their_ranks() -> None:
    assert ranks([3.0, 1.0, 3.0, 2.0, 3.0]).tolist() == [4, 1, 4, 2, 4]


@pytest.mark.parametrize(
    ("x", "y"),
    [([], []), ([1.0], [2.0]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0.1, 0.1, 0.1])],
)
def test_without_variation_there_is_no_correlation(x: list[float], y: list[float]) -> None:
    assert correlate(x, y) == (None, None, len(x))


def test_what_varies_by_rounding_alone_does_not_vary() -> None:
    assert pearson([0.3, 0.1 + 0.2, 0.3], [1, 2, 3]) is None


def test_both_sides_are_of_one_length() -> None:
    with pytest.raises(ValueError, match="got 2 and 1"):
        correlate([1, 2], [1])


def test_rows_are_correlated_one_by_one() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 4, (6, 30)).astype(float), rng.normal(size=30)
    x[2] = 1.5
    found = correlate_rows(x, y)
    for row, r, rho in zip(x, found.pearson, found.spearman, strict=True):
        alone = correlate(row, y)
        assert (None if np.isnan(r) else r) == pytest.approx(alone.pearson)
        assert (None if np.isnan(rho) else rho) == pytest.approx(alone.spearman)
    assert np.isnan(found.pearson).tolist() == [False, False, True, False, False, False]
