"""Two systems against each other: a difference, its interval, and a p-value.

Paired where the systems met the same scenarios (the paper's design: each record is played with
every system), unpaired otherwise. Intervals are percentile bootstrap intervals, p-values
permutation tests of the difference of means; both are seeded.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from recjury.stats.resampling import interval_of_gap, interval_of_mean, p_of_flips, p_of_shuffles


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
    gaps = (np.asarray(a, dtype=float) - np.asarray(b, dtype=float)).tolist()
    interval = interval_of_mean(gaps, seed=seed)
    mean = sum(gaps) / len(gaps) if gaps else None
    if interval is None:
        return Difference(mean, None, None, None, len(gaps))
    return Difference(mean, *interval, p_of_flips(gaps, seed=seed), len(gaps))


def unpaired(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> Difference:
    """The mean of `a` minus the mean of `b`, two independent groups."""
    n = min(len(a), len(b))
    mean = float(np.mean(a) - np.mean(b)) if n else None
    interval = interval_of_gap(a, b, seed=seed)
    if interval is None:
        return Difference(mean, None, None, None, n)
    return Difference(mean, *interval, p_of_shuffles(a, b, seed=seed), n)


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Holm's correction over the p-values that are there (Holm 1979); keys keep their order."""
    known = sorted((p, key) for key, p in p_values.items() if p is not None)
    corrected: dict[str, float | None] = dict.fromkeys(p_values)
    floor = 0.0
    for rank, (p, key) in enumerate(known):
        floor = max(floor, min(1.0, p * (len(known) - rank)))
        corrected[key] = floor
    return corrected
