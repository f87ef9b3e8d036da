"""Bootstrap intervals and permutation p-values that are fast for many scores.

These are SciPy's `bootstrap` (percentile) and `permutation_test`, for means only. If a sample has
few distinct values, as ratings have, a resample is drawn as the number of times that each value
occurs in it. This has the same distribution as drawing the values one by one, and is 10 to 60 times
faster (docs/dependencies.md has the times); for more than a hundred different ratings, the
distribution of all resamples is computed. If a sample has many distinct values, all samples of one
length share the drawn positions.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 9_999
_CONFIDENCE = 0.95
_CELLS = 1_000_000  # numbers drawn at once, which bounds the memory
_CACHED_CELLS = 100_000  # numbers counted at once, which stay in the processor's cache
_STEPS = 10_000  # that differences may add up to, to be flipped in all ways
_UNEVEN = 1e-6  # of a step, by which a whole number of them may be missed
_MANY_COUNTS = 100  # distinct values from which on counting them takes longer than a transform
_WIDEST = 2**20  # steps of the sums that a transform tells apart
_SPREADS = 16  # standard deviations of a sum, beyond which nothing is seen in double precision

_Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """Bounds of the 95 % confidence interval."""

    low: float
    high: float


class _Distinct(NamedTuple):
    """The distinct values of a sample, and how often each occurs."""

    values: _Floats
    counts: NDArray[np.int64]

    @property
    def are_few(self) -> bool:
        """Whether counting them is faster than drawing values one by one."""
        return 8 * self.values.size < int(self.counts.sum())


def interval_of_mean(values: Sequence[float], *, seed: int = 0) -> Interval | None:
    """The 95 % percentile bootstrap interval of the mean; None for fewer than two values."""
    return intervals_of_means([values], seed=seed)[0]


def intervals_of_means(
    samples: Sequence[Sequence[float]], *, seed: int = 0
) -> tuple[Interval | None, ...]:
    """The interval of each sample's mean, as in `interval_of_mean`.

    Samples of one length are resampled together, which for a table of 29 metrics is five times
    faster than one after the other.
    """
    by_length: dict[int, list[int]] = {}
    found: list[Interval | None] = [None] * len(samples)
    for place, values in enumerate(samples):
        if len(values) < 2:
            continue
        distinct = _distinct(np.asarray(values, dtype=float))
        if distinct.are_few:
            exact = _exact_interval(distinct) if distinct.values.size > _MANY_COUNTS else None
            drawn = exact or _interval(_resampled_means(values, np.random.default_rng(seed)))
            found[place] = drawn
        else:
            by_length.setdefault(len(values), []).append(place)
    for places in by_length.values():
        columns = np.array([samples[place] for place in places], dtype=float).T
        means = _means_of_columns(columns, np.random.default_rng(seed))
        for place, own in zip(places, means.T, strict=True):
            found[place] = _interval(own)
    return tuple(found)


def interval_of_gap(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> Interval | None:
    """As `interval_of_mean`, for the mean of `a` minus the mean of `b`, two independent groups."""
    if min(len(a), len(b)) < 2:
        return None
    rng = np.random.default_rng(seed)
    return _interval(_resampled_means(a, rng) - _resampled_means(b, rng))


class PValue(NamedTuple):
    """A two-sided p-value, and the smallest one that its test could give for such values."""

    p: float
    smallest: float


def p_of_flips(gaps: Sequence[float], *, seed: int = 0) -> PValue:
    """The test of the mean of paired differences that flips their signs (Fisher 1935, section 21).

    Pairs without a difference drop out: their sign says nothing. The test is exact if there are at
    most 9,999 ways to flip the others, or if they are multiples of one step that add up to at most
    10,000 steps, as differences of ratings do; with one size, this is the sign test (Dixon and Mood
    1946). Otherwise signs are drawn, or, for few sizes, how many of each are positive. Raises
    ValueError for NaN, and if nothing differs.
    """
    values = np.asarray(gaps, dtype=float)
    values = values[values != 0]
    sizes = np.abs(values)
    if not sizes.sum() > 0:
        raise ValueError("values that are compared must be numbers that differ, not NaN")
    if 2**sizes.size <= RESAMPLES:
        bits = np.arange(2**sizes.size)[:, None] >> np.arange(sizes.size) & 1
        share = 0.5**sizes.size
        return PValue(_two_sided((2 * bits - 1) @ sizes, share, float(values.sum())), 2 * share)
    steps = _steps(sizes)
    if steps is not None:
        ups = int(steps[values > 0].sum())
        shares = _shares_of_sums(steps)
        return PValue(_two_sided(np.arange(shares.size), shares, ups), 2 * float(shares[0]))
    rng, distinct = np.random.default_rng(seed), _distinct(sizes)
    if distinct.are_few:
        ups_of_each = rng.binomial(distinct.counts, 0.5, (RESAMPLES, distinct.counts.size))
        flipped = (2 * ups_of_each - distinct.counts) @ distinct.values
        return _of_draws(flipped, float(values.sum()))
    drawn = [
        (2 * rng.integers(0, 2, (rows, sizes.size), dtype=np.int8) - 1) @ sizes
        for rows in _rows(max(1, _CELLS // sizes.size))
    ]
    return _of_draws(np.concatenate(drawn), float(values.sum()))


def _steps(sizes: _Floats) -> NDArray[np.int64] | None:
    """`sizes` as whole numbers of one step; None if they would add up to too many."""
    smallest, total = float(sizes.min()), float(sizes.sum())
    for parts in range(1, int(_STEPS * smallest / total) + 1):
        steps = sizes * (parts / smallest)
        whole = steps.round()
        if np.abs(steps - whole).max() < _UNEVEN:
            return whole.astype(np.int64)
    return None


def _shares_of_sums(steps: NDArray[np.int64]) -> _Floats:
    """How likely each sum, from 0, is if each of `steps` is added or not, by tossing a coin."""
    shares: _Floats = np.ones(1)
    for size, count in zip(*np.unique(steps, return_counts=True), strict=True):
        logs = np.array([math.lgamma(heads + 1) for heads in range(count + 1)])
        own = np.zeros(size * count + 1)
        own[::size] = np.exp(logs[-1] - logs - logs[::-1] - count * math.log(2))
        shares = np.convolve(shares, own)
    return shares


def p_of_shuffles(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> PValue:
    """The test of a difference of two groups' means that shuffles the groups.

    It is exact if there are at most 9,999 ways to divide the values. Neither group may be empty.
    Raises ValueError for NaN.
    """
    pooled = np.concatenate([np.asarray(a, dtype=float), np.asarray(b, dtype=float)])
    # With both group sizes fixed, the difference of means grows with the first group's sum.
    expected = float(pooled.mean() * len(a))
    observed = float(np.sum(a)) - expected
    if math.isnan(observed):
        raise ValueError("values that are compared must be numbers, got NaN")
    if math.comb(pooled.size, len(a)) <= RESAMPLES:
        parts = np.array(list(combinations(range(pooled.size), len(a))))
        sums, share = pooled[parts].sum(axis=1) - expected, 1 / len(parts)
        ends = (_two_sided(sums, share, float(end)) for end in (sums.min(), sums.max()))
        return PValue(_two_sided(sums, share, observed), min(ends))
    distinct, rng = _distinct(pooled), np.random.default_rng(seed)
    drawn = [_shuffled(pooled, distinct, len(a), rows, rng) for rows in _batches(pooled, distinct)]
    return _of_draws(np.concatenate(drawn) - expected, observed)


def _shuffled(
    pooled: _Floats, distinct: _Distinct, size: int, rows: int, rng: np.random.Generator
) -> _Floats:
    if distinct.are_few:
        draws = rng.multivariate_hypergeometric(distinct.counts, size, rows, method="marginals")
        return np.asarray(draws @ distinct.values)
    orders = rng.permuted(np.tile(pooled, (rows, 1)), axis=1)
    return np.asarray(orders[:, :size].sum(axis=1))


def _of_draws(drawn: _Floats, observed: float) -> PValue:
    """The p-value from drawn sums, of which the observed one counts as one more."""
    share = 1 / (drawn.size + 1)
    return PValue(_two_sided(np.append(drawn, observed), share, observed), 2 * share)


def _two_sided(sums: NDArray[Any], shares: _Floats | float, observed: float) -> float:
    """Twice the smaller tail of `sums` that are as likely as `shares`."""
    slack = 1e-9 * max(1.0, abs(observed))  # equal sums may differ in the last bits
    below = float(np.sum((sums <= observed + slack) * shares))
    above = float(np.sum((sums >= observed - slack) * shares))
    return min(1.0, 2 * min(below, above))


def _resampled_means(values: Sequence[float], rng: np.random.Generator) -> _Floats:
    sample = np.asarray(values, dtype=float)
    distinct = _distinct(sample)
    if not distinct.are_few:
        return _means_of_columns(sample[:, None], rng)[:, 0]
    shares = distinct.counts / sample.size
    sums = [
        rng.multinomial(sample.size, shares, size=rows) @ distinct.values
        for rows in _batches(sample, distinct)
    ]
    return np.concatenate(sums) / sample.size


def _exact_interval(sample: _Distinct) -> Interval | None:
    """The interval of all resamples, if the values are multiples of one step; otherwise None.

    The sum of a resample is one of n independent draws: the Fourier transform of its distribution
    is that of one draw to the power of n. It is known modulo a number that is wider than the sums.
    """
    n, low, step = int(sample.counts.sum()), sample.values[0], float(np.diff(sample.values).min())
    steps = (sample.values - low) / step
    whole, shares = steps.round(), sample.counts / n
    mean = float(whole @ shares)
    spread = math.sqrt(n * float((whole - mean) ** 2 @ shares))
    width = 2 ** math.ceil(math.log2(_SPREADS * spread + 1))
    if np.abs(steps - whole).max() > _UNEVEN or width > _WIDEST:
        return None
    one = np.bincount(whole.astype(np.int64) % width, weights=shares, minlength=width)
    first = math.floor(n * mean) - width // 2
    sums = np.roll(np.fft.irfft(np.fft.rfft(one) ** n, width), -(first % width))
    tail = (1 - _CONFIDENCE) / 2
    ends = first + np.searchsorted(np.cumsum(sums), [tail, 1 - tail])
    return Interval(*(float(low + step * end / n) for end in ends))


def _means_of_columns(columns: _Floats, rng: np.random.Generator) -> _Floats:
    """The means of 9,999 resamples of rows [n, k]: [9,999, k]."""
    n = len(columns)
    sums: list[_Floats] = []
    for rows in _rows(max(1, _CACHED_CELLS // n)):
        drawn = rng.integers(0, n, (rows, n)) + n * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        sums.append(counts @ columns)
    means: _Floats = np.concatenate(sums) / n
    return means


def _distinct(values: _Floats) -> _Distinct:
    return _Distinct(*np.unique(values, return_counts=True))


def _batches(sample: _Floats, distinct: _Distinct) -> Iterator[int]:
    """How many resamples to draw at once."""
    return _rows(max(1, _CELLS // (distinct.values.size if distinct.are_few else sample.size)))


def _rows(most: int) -> Iterator[int]:
    """All resamples, in batches of at most `most`."""
    for drawn in range(0, RESAMPLES, most):
        yield min(most, RESAMPLES - drawn)


def _interval(means: _Floats) -> Interval:
    # Percentile instead of BCa: it is also defined if all values are equal.
    tail = (1 - _CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(low), float(high))
