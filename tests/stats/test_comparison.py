"""Comparisons against cases whose answer is known."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from recjury.stats import MeanDifference, holm, paired, unpaired


def test_a_constant_shift_is_found_exactly() -> None:
    result = paired([2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert (result.difference, result.low, result.high, result.n) == (1.0, 1.0, 1.0, 5)
    assert result.p == pytest.approx(2 / 2**5)


@pytest.mark.parametrize("test", [paired, unpaired])
def test_a_tie_has_no_p_value(test: Callable[..., MeanDifference]) -> None:
    result = test([3.0, 3.0, 3.0], [3.0, 3.0, 3.0])
    assert result == MeanDifference(0.0, 0.0, 0.0, None, 3)
    assert result.is_tie
    assert not test([3.0, 3.0, 3.0], [3.0, 3.0, 2.0]).is_tie
    assert not test([3.0], [3.0]).is_tie


def test_equal_values_tie_in_spite_of_their_last_bits() -> None:
    assert paired([0.1 + 0.2, 1.0], [0.3, 1.0]).is_tie


def test_no_mean_difference_is_no_tie_where_pairs_differ() -> None:
    result = paired([1.0, 2.0] * 40, [2.0, 1.0] * 40)
    assert (result.difference, result.p, result.is_tie) == (0.0, 1.0, False)


def test_few_pairs_say_which_p_value_is_out_of_reach() -> None:
    assert paired([2.0, 3.0, 4.0], [1.0, 1.5, 4.0]).smallest_p == pytest.approx(2 / 2**2)


def test_the_interval_agrees_with_the_normal_one_on_many_pairs() -> None:
    gaps = np.random.default_rng(1).normal(0.5, 1.0, 400)
    result = paired(gaps.tolist(), [0.0] * 400)
    half = 1.96 * gaps.std(ddof=1) / math.sqrt(400)
    assert result.low == pytest.approx(gaps.mean() - half, abs=0.02)
    assert result.high == pytest.approx(gaps.mean() + half, abs=0.02)
    assert result.p is not None
    assert result.p < 0.001


def test_paired_p_values_are_uniform_when_nothing_differs() -> None:
    rng = np.random.default_rng(7)
    ps = [paired(rng.normal(size=8).tolist(), rng.normal(size=8).tolist()).p for _ in range(60)]
    assert 0.3 < np.mean([p for p in ps if p is not None]) < 0.7


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [3.0])])
def test_too_little_gives_no_interval(a: list[float], b: list[float]) -> None:
    for result in (paired(a, b), unpaired(a, b)):
        assert (result.low, result.high, result.p) == (None, None, None)
        assert result.difference == (None if not a else -2.0)


def test_unpaired_groups_of_different_size() -> None:
    result = unpaired([5.0] * 10 + [6.0], [1.0] * 4)
    assert result.difference == pytest.approx(5 + 1 / 11 - 1)
    assert result.n == 4
    assert result.p is not None
    assert result.p < 0.01


def test_the_same_seed_gives_the_same_numbers() -> None:
    a, b = [1.0, 4.0, 2.0, 8.0], [2.0, 1.0, 1.0, 3.0]
    assert paired(a, b, seed=3) == paired(a, b, seed=3)


def test_holm_on_a_worked_example() -> None:
    corrected = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005, "e": None})
    assert corrected == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02, "e": None})
