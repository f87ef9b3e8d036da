"""Effect sizes, equivalence and power against SciPy and published numbers."""

import math

import numpy as np
import pytest
from scipy import stats

from recjury.stats.effects import (
    Effect,
    detectable_difference,
    paired_effect,
    paired_equivalence,
    pairs_needed,
    unpaired_effect,
    unpaired_equivalence,
)


def _groups(seed: int, shift: float, sizes: tuple[int, int]) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    return rng.normal(shift, 1, sizes[0]).tolist(), rng.normal(0, 2, sizes[1]).tolist()


@pytest.mark.parametrize("shift", [0.0, 0.4, -2.0])
def test_equivalence_is_two_one_sided_t_tests(shift: float) -> None:
    a, b = _groups(1, shift, (24, 24))
    gaps = np.subtract(a, b)
    sides = [
        stats.ttest_1samp(gaps, -1.0, alternative="greater").pvalue,
        stats.ttest_1samp(gaps, 1.0, alternative="less").pvalue,
    ]
    assert paired_equivalence(a, b, 1.0) == pytest.approx(max(sides))
    a, b = _groups(2, shift, (20, 31))
    welch = [
        stats.ttest_ind(np.add(a, 1.0), b, equal_var=False, alternative="greater").pvalue,
        stats.ttest_ind(np.add(a, -1.0), b, equal_var=False, alternative="less").pvalue,
    ]
    assert unpaired_equivalence(a, b, 1.0) == pytest.approx(max(welch))


def test_equivalence_where_nothing_varies() -> None:
    assert paired_equivalence([2.0, 2.0], [1.0, 1.0], 2.0) == 0.0
    assert paired_equivalence([2.0, 2.0], [1.0, 1.0], 1.0) == 1.0
    assert unpaired_equivalence([2.0, 2.0], [1.0, 1.0], 2.0) == 0.0
    assert paired_equivalence([2.0], [1.0], 2.0) is None
    assert unpaired_equivalence([2.0], [1.0, 2.0], 2.0) is None
    with pytest.raises(ValueError, match="above 0"):
        paired_equivalence([1.0, 2.0], [1.0, 3.0], 0.0)


def test_equivalence_is_found_wrongly_in_at_most_five_of_a_hundred() -> None:
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(2_000):  # the true difference is at the margin
        p = paired_equivalence(rng.normal(1.0, 1, 30).tolist(), [0.0] * 30, 1.0)
        found += p is not None and p < 0.05
    assert found / 2_000 < 0.065


def test_effect_sizes() -> None:
    a, b = [5.0, 7.0, 9.0, 8.0], [4.0, 4.0, 8.0, 4.0]
    gaps = np.subtract(a, b)
    found = paired_effect(a, b)
    assert found.d == pytest.approx(gaps.mean() / gaps.std(ddof=1))
    assert found.sd == pytest.approx(gaps.std(ddof=1))
    pooled = math.sqrt((np.var(a, ddof=1) + np.var(b, ddof=1)) / 2)
    assert unpaired_effect(a, b).d == pytest.approx((np.mean(a) - np.mean(b)) / pooled)
    assert paired_effect([1.1, 2.1], [1.0, 2.0]).d is None  # equal up to the last bits
    assert paired_effect([1.0], [2.0]) == Effect(None, None)
    assert unpaired_effect([1.0], [2.0, 3.0]) == Effect(None, None)


def _power(n: int, d: float) -> float:
    """The exact power of a two-sided paired t-test at .05."""
    edge = stats.t.ppf(0.975, n - 1)
    off = d * math.sqrt(n)
    return float(stats.nct.sf(edge, n - 1, off) + stats.nct.cdf(-edge, n - 1, off))


@pytest.mark.parametrize(("d", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_pairs_needed_are_those_of_tables(d: float, n: int) -> None:
    """Cohen's small, medium and large effects (G*Power 3.1: 199, 34 and 15)."""
    assert pairs_needed(2.0, 2 * d) == n
    assert _power(n, d) >= 0.8 > _power(n - 1, d)
    seen = detectable_difference(2.0, n)
    assert seen is not None
    assert seen <= 2 * d


def test_what_has_no_power() -> None:
    assert detectable_difference(1.0, 1) is None
    with pytest.raises(ValueError, match="above 0"):
        pairs_needed(1.0, 0.0)
