"""Tests of differences: paired flips of signs (Fisher 1935), and Holm's correction (1979)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recjury.stats.draws import Array, cluster_sums

_EXACT = 13  # clusters of which all flips are tried: 8,192
_FLIPS = 9_999
_AT_ONCE = 500
_EQUAL = 1e-9  # sums that differ by less, relative to all that is added, are equal


def sign_flips(differences: ArrayLike, clusters: ArrayLike, *, seed: int = 0) -> Array:
    """The two-sided p-value of each column of paired differences `[n, k]`; NaN is a missing one.

    If two systems are equally good, the signs of a cluster's differences (a scenario's) are as
    likely the other way round. Of few clusters, all flips are tried; else 9,999 that `seed` draws,
    the same for all columns. Below what so many can tell, p is Hoeffding's bound (1963). A column
    without a difference has 1, one without values NaN.
    """
    values = np.asarray(differences, dtype=float)
    sums = cluster_sums(np.nan_to_num(values), clusters)
    sums = sums[sums.any(axis=1)]
    least = np.abs(sums.sum(axis=0)) - _EQUAL * np.abs(sums).sum(axis=0)
    extreme, tried = np.zeros(values.shape[1]), 0
    for signs in _signs(len(sums), seed):
        extreme += (np.abs(signs @ sums) >= least).sum(axis=0)
        tried += len(signs)
    p = extreme / tried
    if len(sums) > _EXACT:
        with np.errstate(invalid="ignore"):
            bound = 2 * np.exp(-(sums.sum(axis=0) ** 2) / (2 * (sums**2).sum(axis=0)))
        p = np.fmin((1 + extreme) / (1 + tried), bound)
    return np.where(np.isnan(values).all(axis=0), np.nan, p)


def _signs(number: int, seed: int) -> Iterator[Array]:
    """Rows of signs, 1 or -1, for so many clusters."""
    if number <= _EXACT:
        rows = np.arange(2**number)[:, None] >> np.arange(number)
        yield 1.0 - 2.0 * (rows & 1).astype(float)
        return
    generator = np.random.default_rng(seed)
    for place in range(0, _FLIPS, _AT_ONCE):
        shape = (min(_AT_ONCE, _FLIPS - place), number)
        yield 1.0 - 2.0 * generator.integers(0, 2, shape, np.int8).astype(float)


def holm(p_values: ArrayLike) -> Array:
    """P-values of one family, corrected by Holm's method; NaN is no test."""
    p = np.asarray(p_values, dtype=float)
    order: NDArray[np.int64] = np.argsort(p)[: int(np.count_nonzero(~np.isnan(p)))]
    steps = p[order] * np.arange(len(order), 0, -1)
    corrected = np.full(len(p), np.nan)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected
