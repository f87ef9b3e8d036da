"""Bootstrap intervals and permutation p-values that stay quick for many scores.

A resample is drawn as how often each distinct value occurs in it, where there are few of them,
as among ratings. That has the same distribution as drawing values one by one, and is quicker.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 9_999
_CONFIDENCE = 0.95
_CELLS = 1_000_000  # numbers drawn at once, so that memory stays flat

_Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """Bounds between which the true value lies with 95 % confidence."""

    low: float
    high: float


class _Distinct(NamedTuple):
    """The distinct values of a sample, and how often each occurs."""

    values: _Floats
    counts: NDArray[np.int64]

    @property
    def are_few(self) -> bool:
        """Whether counting them is quicker than drawing values one by one."""
        return 8 * self.values.size < int(self.counts.sum())


def interval_of_mean(values: Sequence[float], *, seed: int = 0) -> Interval | None:
    """The 95 % percentile bootstrap interval of the mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    return _interval(_resampled_means(values, np.random.default_rng(seed)))


def interval_of_gap(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> Interval | None:
    """As `interval_of_mean`, of the mean of `a` minus that of `b`, two independent groups."""
    if min(len(a), len(b)) < 2:
        return None
    rng = np.random.default_rng(seed)
    return _interval(_resampled_means(a, rng) - _resampled_means(b, rng))


def p_of_flips(gaps: Sequence[float], *, seed: int = 0) -> float:
    """The two-sided p-value of a mean of paired differences: their signs are flipped at random.

    Exact where there are at most 9,999 ways to flip them. `gaps` must not be empty.
    """
    sizes = np.abs(np.asarray(gaps, dtype=float))
    observed = float(np.sum(gaps))
    if 2**sizes.size <= RESAMPLES:
        bits = np.arange(2**sizes.size)[:, None] >> np.arange(sizes.size) & 1
        return _two_sided((2 * bits - 1) @ sizes, observed, exact=True)
    distinct, rng = _distinct(sizes), np.random.default_rng(seed)
    sums = [_flipped(sizes, distinct, rows, rng) for rows in _batches(sizes, distinct)]
    return _two_sided(np.concatenate(sums), observed, exact=False)


def _flipped(sizes: _Floats, distinct: _Distinct, rows: int, rng: np.random.Generator) -> _Floats:
    if distinct.are_few:
        ups = rng.binomial(distinct.counts, 0.5, (rows, distinct.values.size))
        return np.asarray((2 * ups - distinct.counts) @ distinct.values)
    signs = 2 * rng.integers(0, 2, (rows, sizes.size), dtype=np.int8) - 1
    return np.asarray(signs @ sizes)


def p_of_shuffles(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> float:
    """The two-sided p-value of a difference of two groups' means: who is in which is shuffled.

    Exact where there are at most 9,999 ways to part them. Neither group may be empty.
    """
    pooled = np.concatenate([np.asarray(a, dtype=float), np.asarray(b, dtype=float)])
    # With both group sizes fixed, the difference of means grows with the first group's sum.
    expected = float(pooled.mean() * len(a))
    observed = float(np.sum(a)) - expected
    if math.comb(pooled.size, len(a)) <= RESAMPLES:
        parts = np.array(list(combinations(range(pooled.size), len(a))))
        return _two_sided(pooled[parts].sum(axis=1) - expected, observed, exact=True)
    distinct, rng = _distinct(pooled), np.random.default_rng(seed)
    sums = [_shuffled(pooled, distinct, len(a), rows, rng) for rows in _batches(pooled, distinct)]
    return _two_sided(np.concatenate(sums) - expected, observed, exact=False)


def _shuffled(
    pooled: _Floats, distinct: _Distinct, size: int, rows: int, rng: np.random.Generator
) -> _Floats:
    if distinct.are_few:
        draws = rng.multivariate_hypergeometric(distinct.counts, size, rows, method="marginals")
        return np.asarray(draws @ distinct.values)
    orders = rng.permuted(np.tile(pooled, (rows, 1)), axis=1)
    return np.asarray(orders[:, :size].sum(axis=1))


def _two_sided(resampled: _Floats, observed: float, *, exact: bool) -> float:
    """Twice the smaller tail; at random, the observed value counts as one of the resamples."""
    slack = 1e-9 * max(1.0, abs(observed))  # equal sums may differ in their last bits
    below = int((resampled <= observed + slack).sum())
    above = int((resampled >= observed - slack).sum())
    extra = 0 if exact else 1
    return min(1.0, 2 * (min(below, above) + extra) / (resampled.size + extra))


def _resampled_means(values: Sequence[float], rng: np.random.Generator) -> _Floats:
    sample = np.asarray(values, dtype=float)
    distinct = _distinct(sample)
    sums = [_resampled(sample, distinct, rows, rng) for rows in _batches(sample, distinct)]
    return np.concatenate(sums) / sample.size


def _resampled(
    sample: _Floats, distinct: _Distinct, rows: int, rng: np.random.Generator
) -> _Floats:
    if distinct.are_few:
        shares = distinct.counts / sample.size
        return np.asarray(rng.multinomial(sample.size, shares, size=rows) @ distinct.values)
    return np.asarray(sample[rng.integers(0, sample.size, (rows, sample.size))].sum(axis=1))


def _distinct(values: _Floats) -> _Distinct:
    return _Distinct(*np.unique(values, return_counts=True))


def _batches(sample: _Floats, distinct: _Distinct) -> Iterator[int]:
    """How many resamples to draw at once."""
    width = distinct.values.size if distinct.are_few else sample.size
    left, most = RESAMPLES, max(1, _CELLS // width)
    while left > 0:
        yield min(left, most)
        left -= most


def _interval(means: _Floats) -> Interval:
    # Percentile rather than BCa: it stays defined where all values are equal.
    tail = (1 - _CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(low), float(high))
