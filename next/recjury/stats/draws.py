"""The cluster bootstrap as a matrix of weights: row 0 is the data as they are."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Draws:
    """Resamples of clusters (scenarios, dialogues), shared by all figures of a table."""

    def __init__(self, clusters: ArrayLike, *, times: int = 2000, seed: int = 0):
        """`clusters` has the label of each observation, at least one; `seed` draws resamples."""
        _, self._cluster = np.unique(np.asarray(clusters), return_inverse=True)
        number = int(self._cluster.max()) + 1
        generator = np.random.default_rng(seed)
        drawn = generator.multinomial(number, np.full(number, 1 / number), times)
        self._weights = np.vstack([np.ones(number), drawn])

    def mean(self, x: ArrayLike) -> Array:
        """The mean of `x` in each draw, shape `[1 + times]`; NaN where nothing is observed.

        `x` has a value for each observation; NaN is a missing one.
        """
        values = np.asarray(x, dtype=float)
        valid, size = ~np.isnan(values), self._weights.shape[1]
        sums = np.bincount(self._cluster[valid], values[valid], size)
        counts = np.bincount(self._cluster[valid], minlength=size)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((self._weights @ sums) / (self._weights @ counts))


def interval(draws: Array, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of a figure; NaN if the figure itself is missing."""
    if np.isnan(draws[0]):
        return float("nan"), float("nan")
    tail = (1 - level) / 2
    low, high = np.nanquantile(draws[1:], [tail, 1 - tail])
    return float(low), float(high)
