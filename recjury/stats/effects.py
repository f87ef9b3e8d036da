"""How large a difference of two means is: effect sizes, equivalence, and how many pairs show it."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

_NORMAL = NormalDist()


class Effect(NamedTuple):
    """A difference in standard deviations, and the standard deviation that it is divided by.

    For pairs, these are of the differences (Cohen's d_z); for two groups, the pooled one (Cohen's
    d). `d` is None if nothing varies; both are None with too few values.
    """

    d: float | None
    sd: float | None


def paired_effect(a: Sequence[float], b: Sequence[float]) -> Effect:
    """The effect size of a - b over pairs; `a` and `b` have the same length."""
    gaps = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    if len(gaps) < 2:
        return Effect(None, None)
    return _effect(float(gaps.mean()), float(gaps.std(ddof=1)))


def unpaired_effect(a: Sequence[float], b: Sequence[float]) -> Effect:
    """The effect size of two independent groups, each of at least two values."""
    if min(len(a), len(b)) < 2:
        return Effect(None, None)
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    within = (len(x) - 1) * x.var(ddof=1) + (len(y) - 1) * y.var(ddof=1)
    return _effect(float(x.mean() - y.mean()), math.sqrt(within / (len(x) + len(y) - 2)))


def _effect(mean: float, sd: float) -> Effect:
    # Equal differences may vary in their last bits.
    varies = sd > 1e-12 * max(1.0, abs(mean))
    return Effect(mean / sd, sd) if varies else Effect(None, 0.0)


def paired_equivalence(a: Sequence[float], b: Sequence[float], margin: float) -> float | None:
    """The p-value of two one-sided t-tests (TOST; Schuirmann 1987) that |mean of a - b| < margin.

    None for fewer than two pairs. Raises ValueError for a margin that is not above 0.
    """
    _check(margin)
    gaps = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    if len(gaps) < 2:
        return None
    error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    return _two_one_sided(float(gaps.mean()), error, len(gaps) - 1, margin)


def unpaired_equivalence(a: Sequence[float], b: Sequence[float], margin: float) -> float | None:
    """As `paired_equivalence` for two independent groups, by Welch's t-test."""
    _check(margin)
    if min(len(a), len(b)) < 2:
        return None
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    first, second = float(x.var(ddof=1)) / len(x), float(y.var(ddof=1)) / len(y)
    error = math.sqrt(first + second)
    parts = first**2 / (len(x) - 1) + second**2 / (len(y) - 1)
    freedom = (first + second) ** 2 / parts if parts else 1.0
    return _two_one_sided(float(x.mean() - y.mean()), error, freedom, margin)


def _check(margin: float) -> None:
    if not margin > 0:
        raise ValueError(f"a margin must be above 0, got {margin}")


def _two_one_sided(mean: float, error: float, freedom: float, margin: float) -> float:
    from scipy.special import stdtr

    if error == 0:
        return 0.0 if abs(mean) < margin else 1.0
    return float(stdtr(freedom, (abs(mean) - margin) / error))


def pairs_needed(sd: float, difference: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """How many pairs a two-sided paired t-test needs to see `difference` with this power.

    `sd` is that of the differences. Guenther's (1981) approximation, which is at most one pair from
    the exact number for 8 pairs and more. Raises ValueError unless all are above 0.
    """
    if not (sd > 0 and difference > 0 and 0 < alpha < 1 and 0 < power < 1):
        raise ValueError(f"expected numbers above 0, got {sd}, {difference}, {power}, {alpha}")
    high, wanted = _NORMAL.inv_cdf(1 - alpha / 2), _NORMAL.inv_cdf(power)
    return max(2, math.ceil(((high + wanted) * sd / difference) ** 2 + high**2 / 2))


def detectable_difference(
    sd: float, pairs: int, *, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """The smallest difference that so many pairs show with this power; None for too few pairs."""
    high, wanted = _NORMAL.inv_cdf(1 - alpha / 2), _NORMAL.inv_cdf(power)
    left = pairs - high**2 / 2
    return (high + wanted) * sd / math.sqrt(left) if left > 0 else None
