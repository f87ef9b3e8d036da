"""Two systems against each other: a difference, its interval, and a p-value.

Paired where the systems met the same scenarios (the paper's design: each record is played with
every system), unpaired otherwise. Intervals are percentile bootstrap intervals, p-values
scipy's permutation tests of the difference of means; both are seeded.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_RESAMPLES = 9_999
_CONFIDENCE = 0.95


class Difference(NamedTuple):
    """Mean of A minus mean of B, its 95 % interval, and the two-sided p-value.

    `difference`, `low`, `high` and `p` are None where there is too little to say: no value at
    all, or for the interval and the p-value fewer than two. `n` counts pairs, or, unpaired, the
    smaller group.
    """

    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int


def paired(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> Difference:
    """The mean of a - b over pairs; `a` and `b` are of equal length."""
    gaps = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    if gaps.size < 2:
        return Difference(float(gaps.mean()) if gaps.size else None, None, None, None, gaps.size)
    from scipy import stats

    low, high = _interval((gaps,), seed)
    p = stats.permutation_test(
        (gaps,),
        np.mean,
        permutation_type="samples",
        n_resamples=_RESAMPLES,
        rng=np.random.default_rng(seed),
    ).pvalue
    return Difference(float(gaps.mean()), low, high, float(p), gaps.size)


def unpaired(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> Difference:
    """The mean of `a` minus the mean of `b`, two independent groups."""
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    n = min(first.size, second.size)
    if n < 2:
        gap = float(first.mean() - second.mean()) if n else None
        return Difference(gap, None, None, None, n)
    from scipy import stats

    low, high = _interval((first, second), seed)
    p = stats.permutation_test(
        (first, second),
        _gap_of_means,
        permutation_type="independent",
        n_resamples=_RESAMPLES,
        vectorized=True,
        rng=np.random.default_rng(seed),
    ).pvalue
    return Difference(float(first.mean() - second.mean()), low, high, float(p), n)


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Holm's correction over the p-values that are there (Holm 1979); keys keep their order."""
    known = sorted((p, key) for key, p in p_values.items() if p is not None)
    corrected: dict[str, float | None] = dict.fromkeys(p_values)
    floor = 0.0
    for rank, (p, key) in enumerate(known):
        floor = max(floor, min(1.0, p * (len(known) - rank)))
        corrected[key] = floor
    return corrected


def _gap_of_means(
    x: NDArray[np.float64], y: NDArray[np.float64], axis: int = -1
) -> NDArray[np.float64]:
    return np.asarray(np.mean(x, axis=axis) - np.mean(y, axis=axis))


def _interval(samples: Sequence[NDArray[np.float64]], seed: int) -> tuple[float, float]:
    """The percentile interval of the mean, or of the first mean minus the second.

    Percentile rather than BCa: it stays defined where all differences are equal.
    """
    rng = np.random.default_rng(seed)
    means = [_resampled_means(sample, rng) for sample in samples]
    gaps = means[0] if len(means) == 1 else means[0] - means[1]
    low, high = np.quantile(gaps, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)


def _resampled_means(sample: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    # One resample at a time: all at once would be 9,999 x n numbers.
    draws = (sample[rng.integers(0, sample.size, sample.size)].mean() for _ in range(_RESAMPLES))
    return np.fromiter(draws, dtype=float, count=_RESAMPLES)
