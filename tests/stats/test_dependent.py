"""Tests of dependent correlations against published worked examples."""

import numpy as np
import pytest

from recjury.stats.dependent import steiger, williams, zou


def test_williams_t_is_that_of_silver_hittner_and_may_2006() -> None:
    found = williams(0.3, 0.4, 0.5, 100)
    assert found is not None
    assert found.statistic == pytest.approx(-1.0767, abs=5e-5)
    assert found.p == pytest.approx(0.2843, abs=5e-5)


def test_steigers_z_is_that_of_silver_hittner_and_may_2006() -> None:
    found = steiger(0.3, 0.4, 0.5, 100)
    assert found is not None
    assert found.statistic == pytest.approx(-1.0718, abs=5e-5)
    assert found.p == pytest.approx(0.2838, abs=5e-5)


def test_steigers_own_case_a_comes_out_but_for_his_rounding() -> None:
    # Steiger 1980, page 249: -.8913, from a covariance that was rounded.
    found = steiger(0.4, 0.5, 0.1, 103)
    assert found is not None
    assert found.statistic == pytest.approx(-0.8913, abs=3e-3)


def test_zous_interval_is_that_of_his_example() -> None:
    # Zou 2007: correlations .396 and .179 over 66, .088 between them: -.093 to .517.
    found = zou(0.396, 0.179, 0.088, 66)
    assert found is not None
    assert found.value == pytest.approx(0.217)
    assert (found.low, found.high) == pytest.approx((-0.093, 0.517), abs=5e-4)


@pytest.mark.parametrize("test", [williams, steiger, zou])
def test_nothing_is_said_where_the_formulas_are_undefined(test) -> None:  # type: ignore[no-untyped-def]
    assert test(0.5, 0.4, 0.3, 3) is None
    assert test(0.5, 0.5, 1.0, 50) is None


@pytest.mark.parametrize("test", [williams, steiger])
def test_the_order_of_the_evaluators_only_changes_the_sign(test) -> None:  # type: ignore[no-untyped-def]
    one, other = test(0.6, 0.4, 0.5, 40), test(0.4, 0.6, 0.5, 40)
    assert one.statistic == pytest.approx(-other.statistic)
    assert one.p == pytest.approx(other.p)


def test_equal_correlations_are_found_different_in_five_of_a_hundred() -> None:
    rng = np.random.default_rng(3)
    rejected, covered, draws = [0, 0], 0, 600
    for _ in range(draws):
        shared = rng.normal(size=60)
        people, one, other = (shared + rng.normal(size=60) for _ in range(3))
        matrix = np.corrcoef([people, one, other])
        first, second, between = (float(matrix[pair]) for pair in ((0, 1), (0, 2), (1, 2)))
        for place, test in enumerate((williams, steiger)):
            found = test(first, second, between, 60)
            assert found is not None
            rejected[place] += found.p < 0.05
        gap = zou(first, second, between, 60)
        assert gap is not None
        covered += gap.low <= 0 <= gap.high
    assert all(12 <= count <= 54 for count in rejected)
    assert 0.91 <= covered / draws <= 0.98
