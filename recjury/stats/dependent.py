"""Whether two correlations with the same labels differ, from one sample of pairs of scores.

Two evaluators rate the same conversations, so their correlations with people's labels depend on
each other: `between` is the correlation of the two evaluators. `first` and `second` are those with
the labels. All three are Pearson's; for ranks the tests are approximate.
"""

import math
from typing import NamedTuple

_LEAST = 4  # observations: the tests divide by n - 3


class CorrelationTest(NamedTuple):
    """A test statistic and its two-sided p-value."""

    statistic: float
    p: float


class CorrelationGap(NamedTuple):
    """`first` minus `second`, with its 95 % interval."""

    value: float
    low: float
    high: float


def williams(first: float, second: float, between: float, n: int) -> CorrelationTest | None:
    """Williams's t with n - 3 degrees of freedom (Williams 1959, as in Steiger 1980, eq. 7).

    None if n is below 4, or if the evaluators' scores are the same up to their scale.
    """
    from scipy.stats import t

    if n < _LEAST or abs(between) >= 1:
        return None
    mean = (first + second) / 2
    spread = 2 * (n - 1) / (n - 3) * _determinant(first, second, between)
    spread += mean**2 * (1 - between) ** 3
    if spread <= 0:
        return None
    statistic = (first - second) * math.sqrt((n - 1) * (1 + between) / spread)
    return CorrelationTest(statistic, float(2 * t.sf(abs(statistic), n - 3)))


def steiger(first: float, second: float, between: float, n: int) -> CorrelationTest | None:
    """Steiger's Z with the mean of both correlations in the covariance (Steiger 1980, eq. 14).

    None if n is below 4, or if any correlation is -1 or 1.
    """
    from scipy.stats import norm

    if n < _LEAST or max(abs(first), abs(second), abs(between)) >= 1:
        return None
    mean = (first + second) / 2
    shared = between * (1 - 2 * mean**2) - mean**2 / 2 * (1 - 2 * mean**2 - between**2)
    covariance = shared / (1 - mean**2) ** 2
    gap = math.atanh(first) - math.atanh(second)
    statistic = gap * math.sqrt((n - 3) / (2 - 2 * covariance))
    return CorrelationTest(statistic, float(2 * norm.sf(abs(statistic))))


def zou(first: float, second: float, between: float, n: int) -> CorrelationGap | None:
    """Zou's 95 % interval of the difference (Zou 2007, for overlapping correlations).

    None if n is below 4, or if any correlation is -1 or 1.
    """
    if n < _LEAST or max(abs(first), abs(second), abs(between)) >= 1:
        return None
    gap = first - second
    low_1, high_1 = _fisher(first, n)
    low_2, high_2 = _fisher(second, n)
    shared = (between - first * second / 2) * (1 - first**2 - second**2 - between**2)
    shared = (shared + between**3) / ((1 - first**2) * (1 - second**2))
    return CorrelationGap(
        gap,
        gap - _distance(first - low_1, high_2 - second, shared),
        gap + _distance(high_1 - first, second - low_2, shared),
    )


def _distance(a: float, b: float, shared: float) -> float:
    return math.sqrt(max(0.0, a**2 + b**2 - 2 * shared * a * b))


def _fisher(correlation: float, n: int) -> tuple[float, float]:
    from scipy.stats import norm

    z, half = math.atanh(correlation), float(norm.ppf(0.975)) / math.sqrt(n - 3)
    return math.tanh(z - half), math.tanh(z + half)


def _determinant(a: float, b: float, c: float) -> float:
    """The determinant of the correlation matrix of three variables."""
    return 1 - a**2 - b**2 - c**2 + 2 * a * b * c
