"""Resampling that counts distinct values, against cases whose answer is known and against scipy."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from recjury.stats.resampling import (
    interval_of_gap,
    interval_of_mean,
    intervals_of_means,
    p_of_flips,
    p_of_shuffles,
)

RATINGS = np.random.default_rng(5).integers(0, 5, 400).astype(float)
CONTINUOUS = np.random.default_rng(6).normal(2.0, 1.2, 400)


@pytest.mark.parametrize("values", [RATINGS, CONTINUOUS], ids=["few distinct", "many distinct"])
def test_intervals_agree_with_the_normal_ones(values: NDArray[np.float64]) -> None:
    half = 1.96 * values.std(ddof=1) / np.sqrt(values.size)
    one = interval_of_mean(values.tolist())
    assert one == pytest.approx((values.mean() - half, values.mean() + half), abs=0.02)
    gap = interval_of_gap((values + 1).tolist(), values.tolist())
    wide = np.sqrt(2) * half
    assert gap == pytest.approx((1 - wide, 1 + wide), abs=0.03)


@pytest.mark.parametrize("size", [6, 40, 400])
@pytest.mark.parametrize("values", [RATINGS, CONTINUOUS], ids=["few distinct", "many distinct"])
def test_p_values_agree_with_scipy_s(values: NDArray[np.float64], size: int) -> None:
    a, b = values[:size] + 0.1, values[::-1][:size]
    rng = np.random.default_rng(1)
    flips = stats.permutation_test((a - b,), np.mean, permutation_type="samples", rng=rng).pvalue
    assert p_of_flips((a - b).tolist()) == pytest.approx(flips, abs=0.04)

    def gap(x: NDArray[np.float64], y: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return np.asarray(np.mean(x, axis=axis) - np.mean(y, axis=axis))

    shuffles = stats.permutation_test((a, b), gap, vectorized=True, rng=rng).pvalue
    assert p_of_shuffles(a.tolist(), b.tolist()) == pytest.approx(shuffles, abs=0.04)


def test_small_samples_are_exact() -> None:
    assert p_of_flips([1.0] * 5) == 2 / 2**5
    assert p_of_flips([0.0, 0.0]) == 1.0
    assert p_of_shuffles([3.0, 4.0], [1.0, 2.0]) == pytest.approx(2 / 6)


def test_nothing_is_below_what_resampling_can_tell() -> None:
    assert p_of_flips([1.0] * 100) == pytest.approx(2 / 10_000)
    assert p_of_shuffles([1.0] * 50, [0.0] * 50) == pytest.approx(2 / 10_000)


def test_too_little_has_no_interval() -> None:
    assert interval_of_mean([5.0]) is None
    assert interval_of_gap([5.0], [1.0, 2.0]) is None
    assert interval_of_mean([5.0, 5.0]) == (5.0, 5.0)


def test_a_table_s_intervals_are_those_of_its_columns() -> None:
    other = (CONTINUOUS**2).tolist()
    samples = [RATINGS.tolist(), CONTINUOUS.tolist(), [1.0], other, CONTINUOUS[:50].tolist()]
    for one, again in zip(samples, intervals_of_means(samples), strict=True):
        alone = interval_of_mean(one)
        assert (one[1:] == []) == (again is None)
        if alone is not None:
            assert again == pytest.approx(alone)


def test_values_that_are_no_numbers_have_no_p_value() -> None:
    with pytest.raises(ValueError, match="NaN"):
        p_of_flips([1.0, float("nan")])
    with pytest.raises(ValueError, match="NaN"):
        p_of_shuffles([1.0, float("nan")], [2.0])
