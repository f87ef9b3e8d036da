"""Sign flips and Holm's correction against SciPy, by hand, and in simulated sets."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from recjury.stats import Draws, holm, interval, sign_flips

SETS = 2_000


def scipys(differences: NDArray[np.float64], resamples: int = 9_999) -> float:
    test = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=resamples, rng=1
    )
    return float(test.pvalue)


def test_few_differences_are_tested_exactly() -> None:
    x = np.random.default_rng(0).normal(0.6, 1, (10, 3))
    exact = [scipys(column) for column in x.T]
    assert sign_flips(x, range(10)) == pytest.approx(exact)


def test_many_differences_agree_with_scipy() -> None:
    x = np.random.default_rng(1).normal([0, 0.2, 0.3], 1, (60, 3))
    assert sign_flips(x, range(60)) == pytest.approx([scipys(each) for each in x.T], abs=0.015)


def test_p_is_small_where_flips_are_too_few_to_tell() -> None:
    assert sign_flips(np.full((200, 1), 1.0), range(200))[0] < 1e-12


def test_observations_of_a_cluster_flip_together() -> None:
    """Five copies of one scenario's difference are no more evidence than one."""
    x = np.random.default_rng(2).normal(0.5, 1, (8, 1))
    copies = sign_flips(np.repeat(x, 5, axis=0), np.repeat(np.arange(8), 5))
    assert copies == pytest.approx(sign_flips(x, range(8)))


def test_ties_and_missing_values() -> None:
    x = np.array([[0.0, np.nan, 0.1 + 0.2], [0.0, np.nan, -0.3]])
    tie, missing, near = sign_flips(x, ["a", "b"])
    assert tie == 1
    assert np.isnan(missing)
    assert near == 1


def test_holm_by_hand() -> None:
    found = holm([0.01, 0.04, float("nan"), 0.03, 0.9])
    assert found == pytest.approx([0.04, 0.09, float("nan"), 0.09, 0.9], nan_ok=True)


@pytest.mark.parametrize(("number", "draw"), [(12, "normal"), (40, "normal"), (60, "ratings")])
def test_intervals_cover_the_mean(number: int, draw: str) -> None:
    """95 % intervals, in 2,000 sets of scenarios."""
    rng = np.random.default_rng(3)
    shape = (number, SETS)
    ratings = rng.choice(5, shape, p=[0.05, 0.1, 0.2, 0.35, 0.3]).astype(float)
    x, mean = (rng.normal(1, 2, shape), 1.0) if draw == "normal" else (ratings, 2.75)
    ends = [interval(each, clusters=number) for each in Draws(range(number)).mean(x).T]
    assert 0.93 <= np.mean([low <= mean <= high for low, high in ends]) <= 0.97


@pytest.mark.parametrize("number", [12, 40])
def test_without_a_difference_little_is_decided(number: int) -> None:
    x = np.random.default_rng(4).normal(0, 1, (number, SETS))
    assert np.mean(sign_flips(x, range(number)) < 0.05) <= 0.06


def test_a_family_without_a_difference_decides_little() -> None:
    """Twelve factors that go together, in 300 sets."""
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(300):
        x = rng.normal(0, 1, (12, 1)) + rng.normal(0, 1, (12, 12))
        wrong += bool((holm(sign_flips(x, range(12))) < 0.05).any())
    assert wrong / 300 <= 0.06


def test_three_systems_without_a_difference_are_seldom_told_apart() -> None:
    """All three pairs of three systems on one metric, in 1,000 sets of 12 scenarios."""
    rng = np.random.default_rng(6)
    wrong = 0
    for _ in range(1_000):
        one, two, three = rng.normal(0, 1, (12, 1)) + rng.normal(0, 1, (3, 12, 1))
        pairs = np.hstack([one - two, one - three, two - three])
        wrong += bool((holm(sign_flips(pairs, range(12))) < 0.05).any())
    assert wrong / 1_000 <= 0.06
