"""The difference of two systems' means, with its interval and p-value.

Use `paired` if both systems met the same scenarios, and `unpaired` otherwise. Intervals are
percentile bootstrap intervals, and p-values come from permutation tests of the difference of means;
both are seeded.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from recjury.stats.resampling import interval_of_gap, interval_of_mean, p_of_flips, p_of_shuffles


class MeanDifference(NamedTuple):
    """Mean of A minus mean of B, its 95 % interval, and the two-sided p-value.

    `difference` is None if a group has no value; `low`, `high` and `p` are None if a group has
    fewer than two. `n` counts pairs, or, if unpaired, the values of the smaller group.
    """

    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int


def paired(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> MeanDifference:
    """The mean of a - b over pairs; `a` and `b` have the same length."""
    gaps = (np.asarray(a, dtype=float) - np.asarray(b, dtype=float)).tolist()
    interval = interval_of_mean(gaps, seed=seed)
    mean = sum(gaps) / len(gaps) if gaps else None
    if interval is None:
        return MeanDifference(mean, None, None, None, len(gaps))
    return MeanDifference(mean, *interval, p_of_flips(gaps, seed=seed), len(gaps))


def unpaired(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> MeanDifference:
    """The mean of `a` minus the mean of `b`, for two independent groups."""
    n = min(len(a), len(b))
    mean = float(np.mean(a) - np.mean(b)) if n else None
    interval = interval_of_gap(a, b, seed=seed)
    if interval is None:
        return MeanDifference(mean, None, None, None, n)
    return MeanDifference(mean, *interval, p_of_shuffles(a, b, seed=seed), n)


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """P-values corrected by Holm's method (Holm, 1979); None stays None, keys keep their order."""
    known = sorted((p, key) for key, p in p_values.items() if p is not None)
    corrected: dict[str, float | None] = dict.fromkeys(p_values)
    floor = 0.0
    for rank, (p, key) in enumerate(known):
        floor = max(floor, min(1.0, p * (len(known) - rank)))
        corrected[key] = floor
    return corrected
