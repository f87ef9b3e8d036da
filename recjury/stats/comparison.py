"""The difference of two systems' means, with its interval and p-value.

Use `paired` if both systems met the same scenarios, and `unpaired` otherwise. Intervals are
percentile bootstrap intervals, and p-values come from permutation tests of the difference of means;
both are seeded.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from recjury.stats.resampling import (
    Interval,
    PValue,
    interval_of_gap,
    interval_of_mean,
    p_of_flips,
    p_of_shuffles,
)

K = TypeVar("K", bound=Hashable)

_LAST_BITS = 1e-12  # relative


class MeanDifference(NamedTuple):
    """Mean of A minus mean of B, its 95 % interval, and the two-sided p-value.

    `difference` is None if a group has no value; `low`, `high` and `p` are None if a group has
    fewer than two. A tie has no p-value either: nothing differs that could be tested. `n` counts
    pairs, or, if unpaired, the values of the smaller group. `smallest_p` is the smallest p-value
    that the test could give for so many values that differ.
    """

    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    smallest_p: float | None = None

    @property
    def is_tie(self) -> bool:
        """Whether none of the pairs differs, or all values of both groups are equal."""
        return self.low == self.high == 0  # a resample of other values would not always be 0

    def negated(self) -> "MeanDifference":
        """B minus A."""
        difference, high, low = (None if each is None else 0.0 - each for each in self[:3])
        return self._replace(difference=difference, low=low, high=high)


def paired(
    a: Sequence[float], b: Sequence[float], *, seed: int = 0, tested: bool = True
) -> MeanDifference:
    """The mean of a - b over pairs; `a` and `b` have the same length.

    Without `tested` there is no p-value.
    """
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    # Means over the same repeats may differ in their last bits.
    same = np.abs(x - y) <= _LAST_BITS * np.maximum(np.abs(x), np.abs(y))
    gaps = np.where(same, 0.0, x - y).tolist()
    mean = sum(gaps) / len(gaps) if gaps else None
    interval = interval_of_mean(gaps, seed=seed)
    test = partial(p_of_flips, gaps, seed=seed)
    return _tested(mean, interval, len(gaps), test if tested else None)


def unpaired(
    a: Sequence[float], b: Sequence[float], *, seed: int = 0, tested: bool = True
) -> MeanDifference:
    """The mean of `a` minus the mean of `b`, for two independent groups; as `paired`."""
    n = min(len(a), len(b))
    mean = float(np.mean(a) - np.mean(b)) if n else None
    interval = interval_of_gap(a, b, seed=seed)
    test = partial(p_of_shuffles, a, b, seed=seed)
    return _tested(mean, interval, n, test if tested else None)


def _tested(
    mean: float | None, interval: Interval | None, n: int, test: Callable[[], PValue] | None
) -> MeanDifference:
    if interval is None:
        return MeanDifference(mean, None, None, None, n)
    found = MeanDifference(mean, *interval, None, n)
    if found.is_tie or test is None:
        return found
    p, smallest = test()
    return MeanDifference(mean, *interval, p, n, smallest)


def holm(p_values: Mapping[K, float | None]) -> dict[K, float | None]:
    """P-values corrected by Holm's method (Holm, 1979); None stays None, keys keep their order."""
    known = [(p, key) for key, p in p_values.items() if p is not None]
    corrected: dict[K, float | None] = dict.fromkeys(p_values)
    floor = 0.0
    for rank, (p, key) in enumerate(sorted(known, key=lambda each: each[0])):
        floor = max(floor, min(1.0, p * (len(known) - rank)))
        corrected[key] = floor
    return corrected
