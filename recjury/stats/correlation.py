"""Pearson's and Spearman's correlation, undefined for what does not vary."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_FLAT = 1e-13  # a spread this small beside the mean is rounding, as SciPy has it


class Correlation(NamedTuple):
    """Both coefficients over `n` pairs; None where a side does not vary, or n is below 2."""

    pearson: float | None
    spearman: float | None
    n: int


def correlate(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Pearson's r, and Spearman's rho with average ranks for ties; `x` and `y` are of one length.

    Raises ValueError for lengths that differ.
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return Correlation(_pearson(a, b), _pearson(ranks(a), ranks(b)), len(a))


def pearson(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's r; None where it is undefined."""
    return _pearson(np.asarray(x, dtype=float), np.asarray(y, dtype=float))


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's rho; None where it is undefined."""
    return _pearson(ranks(np.asarray(x, dtype=float)), ranks(np.asarray(y, dtype=float)))


def ranks(values: Sequence[float] | _Floats) -> _Floats:
    """Ranks from 1, ties as the mean of theirs: [n] float."""
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean_rank: _Floats = last - (counts - 1) / 2
    return mean_rank[place]


def _pearson(a: _Floats, b: _Floats) -> float | None:
    if a.shape != b.shape:
        raise ValueError(f"expected as many values on both sides, got {a.size} and {b.size}")
    if a.size < 2:
        return None
    left, right = _unit(a), _unit(b)
    if left is None or right is None:
        return None
    return float(np.clip(left @ right, -1.0, 1.0))


def _unit(values: _Floats) -> _Floats | None:
    mean = values.mean()
    gaps = values - mean
    size = float(np.linalg.norm(gaps))
    return None if size <= _FLAT * abs(float(mean)) or size == 0 else gaps / size
