"""Correlation within groups, for pairs that belong to groups."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recjury.stats.correlation import Correlation, defined, pearson_rows, ranks

_Floats = NDArray[np.float64]

Groups = Sequence[str] | NDArray[np.str_] | NDArray[np.int64]
"""The name or number of the group of each value."""


def correlate_within(
    x: Sequence[float] | _Floats, y: Sequence[float] | _Floats, groups: Groups
) -> Correlation:
    """Correlations of the deviations from the group means.

    For Pearson's r these are deviations of the values [n], for Spearman's rho deviations of their
    ranks among all n. Both are partial correlations given the group; None if a side does not vary
    within any group. Raises ValueError for different lengths.
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if not len(a) == len(b) == len(groups):
        raise ValueError(f"lengths differ: {len(a)} and {len(b)} values, {len(groups)} groups")
    if len(a) < 2:
        return Correlation(None, None, len(a))
    r, rho = pearson_rows(
        np.stack([_deviations(each, groups) for each in (a, ranks(a))]),
        np.stack([_deviations(each, groups) for each in (b, ranks(b))]),
    )
    return Correlation(defined(r), defined(rho), len(a))


def group_means(values: Sequence[float] | _Floats, groups: Groups) -> _Floats:
    """The mean of the group of each value: [n]."""
    given = np.asarray(values, dtype=float)
    if not len(given):
        return given
    _, place = np.unique(np.asarray(groups), return_inverse=True)
    sums = np.bincount(place, weights=given)
    means: _Floats = (sums / np.bincount(place))[place]
    return means


def means_of_others(values: Sequence[float] | _Floats, groups: Groups, clusters: Groups) -> _Floats:
    """The mean of each value's group without its own cluster: [n], nan if nothing is left.

    It is what the other dialogues of the same system alone tell about a turn or dialogue. All
    values of a cluster belong to one group.
    """
    given = np.asarray(values, dtype=float)
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    sums, counts = np.bincount(group, weights=given), np.bincount(group)
    own_sums, own_counts = np.bincount(cluster, weights=given), np.bincount(cluster)
    left = counts[group] - own_counts[cluster]
    rest = sums[group] - own_sums[cluster]
    known: _Floats = np.divide(rest, left, out=np.full(len(given), np.nan), where=left > 0)
    return known


def _deviations(values: _Floats, groups: Groups) -> _Floats:
    found: _Floats = values - group_means(values, groups)
    # The mean of equal values may differ from them in the last bits.
    found[np.abs(found) < 1e-12 * max(1.0, float(np.abs(values).max(initial=0.0)))] = 0.0
    return found
