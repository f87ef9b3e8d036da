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


def test_the_interval_of_many_ratings_is_that_of_all_resamples() -> None:
    """Those of 2,000 quarters of points, of which more than a hundred are different."""
    rng = np.random.default_rng(7)
    values = rng.integers(20, 96, (2000, 4)).mean(axis=1) - 40
    found = interval_of_mean(values.tolist())
    assert found is not None
    assert found == interval_of_mean(values.tolist(), seed=1)
    means = rng.choice(values, (4000, values.size)).mean(axis=1)
    below, above = np.mean(means < found.low), np.mean(means > found.high)
    assert (below, above) == pytest.approx((0.025, 0.025), abs=0.009)


@pytest.mark.parametrize("size", [6, 40, 400])
@pytest.mark.parametrize("values", [RATINGS, CONTINUOUS], ids=["few distinct", "many distinct"])
def test_p_values_agree_with_scipy_s(values: NDArray[np.float64], size: int) -> None:
    a, b = values[:size] + 0.1, values[::-1][:size]
    rng = np.random.default_rng(1)
    flips = stats.permutation_test((a - b,), np.mean, permutation_type="samples", rng=rng).pvalue
    assert p_of_flips((a - b).tolist()).p == pytest.approx(flips, abs=0.04)

    def gap(x: NDArray[np.float64], y: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return np.asarray(np.mean(x, axis=axis) - np.mean(y, axis=axis))

    shuffles = stats.permutation_test((a, b), gap, vectorized=True, rng=rng).pvalue
    assert p_of_shuffles(a.tolist(), b.tolist()).p == pytest.approx(shuffles, abs=0.04)


def test_small_samples_are_exact() -> None:
    assert p_of_flips([1.0] * 5) == pytest.approx((2 / 2**5, 2 / 2**5))
    assert p_of_shuffles([3.0, 4.0], [1.0, 2.0]) == pytest.approx((2 / 6, 2 / 6))
    assert p_of_shuffles([1.0, 1.0], [1.0, 2.0]) == pytest.approx((1.0, 1.0))


def test_pairs_without_a_difference_drop_out() -> None:
    assert p_of_flips([1.0, 2.0, -0.5, 2.0]) == p_of_flips([1.0, 2.0, -0.5, 2.0, *[0.0] * 500])
    assert p_of_flips([0.0] * 60 + [1.0] * 3) == pytest.approx((0.25, 0.25))


@pytest.mark.parametrize(("ups", "downs"), [(9, 2), (120, 100), (40, 0)])
def test_differences_of_one_size_have_the_sign_test(ups: int, downs: int) -> None:
    gaps = [0.25] * ups + [-0.25] * downs + [0.0] * 30
    assert p_of_flips(gaps).p == pytest.approx(stats.binomtest(ups, ups + downs).pvalue)


def test_differences_of_ratings_are_tested_exactly() -> None:
    gaps = np.random.default_rng(2).choice([-1, -0.5, -1 / 3, 0, 1 / 3, 0.5, 1, 2], 300) + 0.0
    every = [p_of_flips(gaps.tolist(), seed=seed) for seed in range(3)]
    assert every[0] == every[1] == every[2]
    some = gaps[gaps != 0][:16]
    signs = 2 * (np.arange(2**16)[:, None] >> np.arange(16) & 1) - 1
    sums = np.abs((signs * np.abs(some)).sum(axis=1))
    assert p_of_flips(some.tolist()).p == pytest.approx((sums >= abs(some.sum()) - 1e-9).mean())


def test_nothing_is_below_what_drawing_can_tell() -> None:
    far = (np.abs(CONTINUOUS) + 1).tolist()
    assert p_of_flips(far) == pytest.approx((2 / 10_000, 2 / 10_000))
    assert p_of_shuffles([1.0] * 50, [0.0] * 50) == pytest.approx((2 / 10_000, 2 / 10_000))


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
    with pytest.raises(ValueError, match="differ"):
        p_of_flips([0.0, 0.0])
