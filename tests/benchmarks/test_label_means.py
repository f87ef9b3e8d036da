"""Corrected means: the published formula, coverage by simulation, and what is refused."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.label_means import (
    CorrectedMean,
    NotCorrected,
    labels_needed,
    mean_of_more,
    mean_of_these,
)

Floats = NDArray[np.float64]


def _rated(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Labels from 0 to 4, and scores of a judge that is biased by 1 and right in its order."""
    truth = rng.normal(size=n)
    labels: Floats = np.clip(np.round(1.2 * truth + 1.5), 0, 4)
    return labels, truth + 0.7 * rng.normal(size=n) + 1


def _coverage(
    draw: Callable[[], tuple[CorrectedMean | NotCorrected, float]],
) -> tuple[float, float]:
    """How often the interval has the truth, and its median width over that of the labels alone."""
    covered, widths = [], []
    for _ in range(400):
        found, truth = draw()
        assert isinstance(found, CorrectedMean)
        covered.append(found.low <= truth <= found.high)
        widths.append((found.high - found.low) / (found.labels_high - found.labels_low))
    return float(np.mean(covered)), float(np.median(widths))


def test_the_mean_of_these_is_covered_by_a_shorter_interval() -> None:
    rng = np.random.default_rng(0)
    labels, scores = _rated(rng, 250)

    def draw() -> tuple[CorrectedMean | NotCorrected, float]:
        places = rng.integers(0, 250, 40)
        return mean_of_these(labels[places], scores[places], scores), float(labels.mean())

    covered, width = _coverage(draw)
    assert 0.92 <= covered <= 0.98
    assert width < 0.8


def test_the_mean_of_more_is_covered_by_a_shorter_interval() -> None:
    rng = np.random.default_rng(1)
    truth = float(_rated(rng, 1_000_000)[0].mean())

    def draw() -> tuple[CorrectedMean | NotCorrected, float]:
        labels, scores = _rated(rng, 300)
        return mean_of_more(labels[:40], scores[:40], scores[40:]), truth

    covered, width = _coverage(draw)
    assert 0.92 <= covered <= 0.98
    assert width < 0.85


def test_turns_of_a_conversation_count_as_one_unit() -> None:
    rng = np.random.default_rng(2)
    labels, scores = _rated(rng, 200)

    def draw() -> tuple[CorrectedMean | NotCorrected, float]:
        places = rng.integers(0, 200, 30)
        five = np.repeat(places, 5)  # five turns with the same label tell no more than one
        names = np.repeat(np.arange(30).astype(str), 5).tolist()
        found = mean_of_these(labels[five], scores[five], scores, clusters=names)
        return found, float(labels.mean())

    covered, _ = _coverage(draw)
    assert 0.91 <= covered <= 0.98


def test_the_weight_and_the_interval_are_those_of_ppi_plus_plus() -> None:
    """Angelopoulos, Duchi and Zrnic 2023, example 6.1, computed here from its definition."""
    rng = np.random.default_rng(3)
    labels, scores = _rated(rng, 4_000)
    n, many = 400, 3_600
    found = mean_of_more(labels[:n], scores[:n], scores[n:])
    assert isinstance(found, CorrectedMean)
    covariance = float(np.cov(labels[:n], scores[:n])[0, 1])
    weight = covariance / ((1 + n / many) * scores.var(ddof=1))
    assert found.weight == pytest.approx(weight)
    value = weight * scores[n:].mean() + (labels[:n] - weight * scores[:n]).mean()
    assert found.value == pytest.approx(value)
    error = (labels[:n] - weight * scores[:n]).std() / n**0.5
    error = np.hypot(error, weight * scores[n:].std() / many**0.5)
    assert found.high - found.value == pytest.approx(1.96 * error, rel=0.01)


@pytest.mark.parametrize(
    ("labels", "scores", "reason"),
    [
        ([0, 1] * 7, [0, 1] * 7, "14 units have labels, at least 15"),
        ([0] * 31 + [1] * 9, [0] * 31 + [1] * 9, "9 of 40 differ"),
        ([0, 1] * 20, [3] * 40, "the scores do not vary"),
        ([0, 1] * 20, [0, 0, 1, 1] * 10, "tell too little"),
        ([0, 1] * 20, [1, 0] * 20, "tell too little"),
    ],
)
def test_what_would_mislead_is_refused(
    labels: list[float], scores: list[float], reason: str
) -> None:
    for found in (
        mean_of_these(labels, scores, scores * 5),
        mean_of_more(labels, scores, scores * 4),
    ):
        assert isinstance(found, NotCorrected)
        assert reason in found.reason


def test_half_the_width_takes_four_times_the_labels() -> None:
    rng = np.random.default_rng(4)
    labels, scores = _rated(rng, 50)
    found = mean_of_these(labels, scores, scores)
    assert isinstance(found, CorrectedMean)
    width = found.high - found.low
    assert labels_needed(found, width) in (50, 51)
    assert labels_needed(found, width / 2) in (200, 201)
    with pytest.raises(ValueError, match="above 0"):
        labels_needed(found, 0)


def test_lengths_that_differ_are_an_error() -> None:
    with pytest.raises(ValueError, match="a score for each label"):
        mean_of_these([1, 2], [1], [1, 2])
    with pytest.raises(ValueError, match="a cluster for each label"):
        mean_of_these([1, 2], [1, 2], [1, 2], clusters=["a"])
