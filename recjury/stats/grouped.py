"""Correlation when the pairs come in groups: what is left of it inside the groups."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recjury.stats.correlation import Correlation, pearson, ranks

_Floats = NDArray[np.float64]


def correlate_within(
    x: Sequence[float] | _Floats, y: Sequence[float] | _Floats, groups: Sequence[str]
) -> Correlation:
    """Correlations inside groups: of what lies above or below the mean of one's own group.

    For Pearson's r those are the values' gaps to their group's mean, for Spearman's rho the gaps
    of their ranks among all. Both are partial correlations given the group; None where a side
    does not vary inside any group. Raises ValueError for lengths that differ.
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if not len(a) == len(b) == len(groups):
        raise ValueError(f"lengths differ: {len(a)} and {len(b)} values, {len(groups)} groups")
    return Correlation(
        pearson(_gaps(a, groups).tolist(), _gaps(b, groups).tolist()),
        pearson(_gaps(ranks(a), groups).tolist(), _gaps(ranks(b), groups).tolist()),
        len(a),
    )


def group_means(values: Sequence[float] | _Floats, groups: Sequence[str]) -> _Floats:
    """For each value the mean of its group: [n]."""
    given = np.asarray(values, dtype=float)
    if not len(given):
        return given
    _, place = np.unique(np.asarray(groups), return_inverse=True)
    sums = np.bincount(place, weights=given)
    means: _Floats = (sums / np.bincount(place))[place]
    return means


def means_of_others(
    values: Sequence[float] | _Floats, groups: Sequence[str], clusters: Sequence[str]
) -> _Floats:
    """For each value the mean of its group without its own cluster: [n], nan where that is empty.

    What could be known of a turn or dialogue from other dialogues of the same system alone. A
    cluster lies in one group.
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


def _gaps(values: _Floats, groups: Sequence[str]) -> _Floats:
    gaps: _Floats = values - group_means(values, groups)
    # Means of equal values may differ from them in the last bits.
    gaps[np.abs(gaps) < 1e-12 * max(1.0, float(np.abs(values).max(initial=0.0)))] = 0.0
    return gaps
