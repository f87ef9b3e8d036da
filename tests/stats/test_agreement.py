"""Krippendorff's alpha against his own worked example, and one rater against the rest."""

import numpy as np
import pytest

from recjury.stats.agreement import Distance, krippendorff_alpha, one_against_the_rest

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", part C: four observers, twelve
# units; 0 is a missing rating.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3),
    (0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0),
)
UNITS = [[value for value in unit if value] for unit in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize(
    ("distance", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_that_of_krippendorffs_example(distance: Distance, published: float) -> None:
    assert krippendorff_alpha(UNITS, distance) == pytest.approx(published, abs=5e-4)


def test_alpha_is_one_for_raters_who_always_agree_and_about_zero_for_chance() -> None:
    assert krippendorff_alpha([[1, 1], [2, 2], [3, 3]]) == pytest.approx(1)
    rng = np.random.default_rng(0)
    assert krippendorff_alpha(rng.integers(1, 6, (4_000, 3)).tolist()) == pytest.approx(0, abs=0.03)


@pytest.mark.parametrize("units", [[], [[1], [2]], [[3, 3], [3, 3]]])
def test_without_pairs_or_differences_there_is_no_alpha(units: list[list[float]]) -> None:
    assert krippendorff_alpha(units) is None


def test_one_rater_agrees_with_the_rest_as_much_as_the_truth_tells() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=400)
    close = (truth[:, None] + 0.1 * rng.normal(size=(400, 3))).tolist()
    far = (truth[:, None] + 3 * rng.normal(size=(400, 3))).tolist()
    good, bad = one_against_the_rest(close), one_against_the_rest(far)
    assert good is not None
    assert bad is not None
    assert good > 0.97
    assert 0 < bad < 0.3
    assert one_against_the_rest(close) == good


def test_one_rater_against_none_is_undefined() -> None:
    assert one_against_the_rest([[1], [2]]) is None
    assert one_against_the_rest([[1, 2]]) is None
    assert one_against_the_rest([[2, 2], [2, 2]]) is None
