"""Looking after every value: errors by simulation, and what is saved where systems differ."""

from itertools import pairwise

import numpy as np
import pytest

from recjury.stats.sequential import SequentialTest, confidence_sequence, decide_pairs


@pytest.mark.parametrize(
    "levels",
    [(-4, -1, 0, 0, 1, 4), (-1, 1), (-4, 0, 0, 0, 0, 0, 0, 0, 4), (-1, -1, -1, -1, 4)],
    ids=["grades", "coin", "seldom", "skewed"],
)
def test_equal_systems_are_told_apart_in_less_than_five_of_a_hundred(
    levels: tuple[int, ...],
) -> None:
    rng = np.random.default_rng(0)
    assert np.mean(levels) == 0
    wrong, draws = 0, 300
    for _ in range(draws):
        test = SequentialTest(-4, 4)
        for value in rng.choice(levels, 120):
            test.add(float(value))
        wrong += test.p <= 0.05  # the least p of all 120 looks
    assert wrong / draws <= 0.08  # at most .05, and three standard errors


def test_a_clear_difference_is_decided_early() -> None:
    rng = np.random.default_rng(1)
    stopped = []
    for _ in range(50):
        test = SequentialTest(-4, 4)
        while test.p > 0.05 and test.n < 200:
            test.add(float(np.clip(np.round(1 + 1.5 * rng.normal()), -4, 4)))
        stopped.append(test.n)
    assert np.median(stopped) < 60


def test_all_intervals_together_cover_and_only_get_shorter() -> None:
    rng = np.random.default_rng(2)
    covered, draws = 0, 100
    for _ in range(draws):
        values = rng.choice([0, 0, 0, 1, 2, 4], 150)
        found = confidence_sequence(values, 0, 4)
        covered += all(each.low <= 7 / 6 <= each.high for each in found)
        assert all(a.low <= b.low and b.high <= a.high for a, b in pairwise(found))
        assert found[-1].high - found[-1].low < 1.5
        assert found[-1].mean == pytest.approx(values.mean())
    assert covered / draws >= 0.89  # at least .95, less three standard errors


def test_pairs_are_decided_together_and_not_before_enough_values() -> None:
    clear, even = SequentialTest(-4, 4), SequentialTest(-4, 4)
    tests = {("good", "bad"): clear, ("good", "fair"): even}
    for place in range(40):
        clear.add(-3.0)
        even.add(1.0 if place % 2 else -1.0)
        (first, second) = decide_pairs(tests, confidence=0.95, least=20)
        assert first.better == (None if first.n < 20 else "bad")
        assert second.better is None
    assert (first.mean, first.n) == (-3.0, 40)
    assert first.p == pytest.approx(min(1.0, 2 * clear.p))  # Holm: the smaller of two
    assert second.p == pytest.approx(even.p)


def test_values_that_are_always_equal_decide_nothing() -> None:
    test = SequentialTest(-4, 4)
    assert test.mean is None
    for _ in range(50):
        test.add(0.0)
    assert test.p == 1
    (found,) = decide_pairs({("a", "b"): test}, confidence=0.95, least=20)
    assert found.better is None


def test_values_out_of_bounds_are_an_error() -> None:
    with pytest.raises(ValueError, match="5 is not between -4 and 4"):
        SequentialTest(-4, 4).add(5)
    with pytest.raises(ValueError, match="expected 1 < 0"):
        SequentialTest(1, 2)
    with pytest.raises(ValueError, match="expected values between 0 and 1"):
        confidence_sequence([0.5, 2], 0, 1)
    with pytest.raises(ValueError, match="expected values between 1 and 0"):
        confidence_sequence([], 1, 0)
    assert confidence_sequence([], 0, 1) == ()
