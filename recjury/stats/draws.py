"""The cluster bootstrap as a matrix of weights: row 0 is the data as they are."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

FEWEST_CLUSTERS = 8
"""Of fewer, the ends of a correlation's interval would come from resamples of one or two."""

_AT_ONCE = 256  # rows of weights that are floats at one time


class Draws:
    """Resamples of clusters (scenarios, dialogues), shared by all figures of a table."""

    def __init__(self, clusters: ArrayLike, *, times: int = 2000, seed: int = 0):
        """`clusters` has the label of each observation, at least one; `seed` draws resamples."""
        self._labels = np.asarray(clusters)
        size = len(np.unique(self._labels))
        generator = np.random.default_rng(seed)
        # A byte is enough: of more than 255 clusters, none is drawn so often.
        self._weights = np.ones((1 + times, size), np.uint8)
        for row in self._weights[1:]:
            row[:] = np.bincount(generator.integers(0, size, size), minlength=size)

    def mean(self, x: ArrayLike) -> Array:
        """The mean of `x` in each draw, NaN where nothing is observed.

        `x` has a value for each observation, shape `[n]`, or columns of them, `[n, k]`; NaN is a
        missing one. The result has the shape `[1 + times]` or `[1 + times, k]`.
        """
        values = np.asarray(x, dtype=float)
        valid = ~np.isnan(values)
        sums = cluster_sums(np.where(valid, values, 0.0), self._labels)
        counts = cluster_sums(valid, self._labels)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self._weighted(sums) / self._weighted(counts))

    def clusters(self, x: ArrayLike) -> NDArray[np.int64]:
        """In how many clusters `x` is observed, for each column."""
        seen = cluster_sums(~np.isnan(np.asarray(x, dtype=float)), self._labels)
        return np.asarray(np.count_nonzero(seen, axis=0))

    def weights(self, times: int | None = None) -> Iterator[Array]:
        """How often each observation is drawn, `[rows, n]` at a time; the first row is 1 for all.

        `times` is how many draws are wanted, at most as many as there are.
        """
        _, cluster = np.unique(self._labels, return_inverse=True)
        rows = self._weights[: None if times is None else times + 1]
        for place in range(0, len(rows), _AT_ONCE):
            yield rows[place : place + _AT_ONCE].astype(float)[:, cluster]

    def _weighted(self, values: Array) -> Array:
        places = range(0, len(self._weights), _AT_ONCE)
        return np.concatenate(
            [self._weights[place : place + _AT_ONCE].astype(float) @ values for place in places]
        )


def cluster_sums(values: NDArray[Any], clusters: ArrayLike) -> Array:
    """The sums of `values`, `[n]` or `[n, k]`, over each cluster, in the order of their labels."""
    labels, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.zeros((len(labels), *values.shape[1:]))
    np.add.at(sums, cluster, values)
    return sums


def interval(
    draws: Array, level: float = 0.95, clusters: int = 0, fewest: int = 0
) -> tuple[float, float]:
    """The percentile interval of a figure; NaN if it is missing or of less than `fewest` clusters.

    If all resamples give the same figure, since there is one cluster or all values are equal, they
    do not say how far others would move it: NaN. Of few clusters, resamples vary too little. If
    `clusters` says how many there are, the interval is made wider, as t is wider than the normal
    distribution (Hesterberg 2015, "What teachers should know about the bootstrap", section 5.3).
    """
    if np.isnan(draws[0]) or clusters < fewest or _are_equal(draws[1:]):
        return float("nan"), float("nan")
    tail = (1 - level) / 2
    if clusters > 1:
        tail = _of_few(tail, clusters)
    low, high = np.nanquantile(draws[1:], [tail, 1 - tail])
    return float(low), float(high)


def _are_equal(draws: Array) -> bool:
    known = draws[~np.isnan(draws)]
    return bool(np.allclose(known, known[:1], rtol=1e-9, atol=1e-12))


@cache
def _of_few(tail: float, clusters: int) -> float:
    """The share of draws beyond an end of an interval, for so many clusters."""
    from scipy import stats

    wider = np.sqrt(clusters / (clusters - 1)) * stats.t.ppf(tail, clusters - 1)
    return float(stats.norm.cdf(wider))
