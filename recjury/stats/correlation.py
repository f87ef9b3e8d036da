"""Pearson's and Spearman's correlation by SciPy; undefined if one side does not vary."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_CONSTANT = 1e-13  # smaller deviations, relative to the mean, count as rounding errors, as in SciPy


class Correlation(NamedTuple):
    """Both coefficients (-1 to 1) over `n` pairs; None if a side does not vary, or if n is below
    2."""

    pearson: float | None
    spearman: float | None
    n: int


class RowCorrelations(NamedTuple):
    """Both coefficients for each of k rows: [k] each, nan if undefined."""

    pearson: _Floats
    spearman: _Floats


def correlate(x: Sequence[float] | _Floats, y: Sequence[float] | _Floats) -> Correlation:
    """Pearson's r, and Spearman's rho with average ranks for ties, of two samples [n].

    Raises ValueError for different lengths.
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if a.shape != b.shape:
        raise ValueError(f"expected as many values on both sides, got {a.size} and {b.size}")
    r, rho = correlate_rows(a[None], b)
    return Correlation(defined(r[0]), defined(rho[0]), len(a))


def pearson(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's r; None if it is undefined."""
    return correlate(x, y).pearson


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's rho; None if it is undefined."""
    return correlate(x, y).spearman


def correlate_rows(x: _Floats, y: _Floats) -> RowCorrelations:
    """The correlations of each row of `x` [k, n] with `y` [n], or with the same row of `y` [k, n].

    All rows are computed in one SciPy call, which is faster than one call per row.
    """
    if x.shape[-1] < 2:
        return RowCorrelations(np.full(len(x), np.nan), np.full(len(x), np.nan))
    of_y = np.stack([y, ranks(y)])
    if y.ndim < x.ndim:
        of_y = of_y[:, None]
    return RowCorrelations(*pearson_rows(np.stack([x, ranks(x)]), of_y))


def pearson_rows(x: _Floats, y: _Floats) -> _Floats:
    """Pearson's r along the last axis of two arrays [..., n] that broadcast; nan if undefined.

    `n` is at least 2.
    """
    from scipy.stats import ConstantInputWarning, NearConstantInputWarning, pearsonr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantInputWarning)
        warnings.simplefilter("ignore", NearConstantInputWarning)
        r = np.asarray(pearsonr(x, y, axis=-1).statistic, dtype=float)
    found: _Floats = np.where(_varies(x) & _varies(y), r, np.nan)
    return found


def ranks(values: Sequence[float] | _Floats) -> _Floats:
    """Ranks from 1 along the last axis; ties share the mean of their ranks."""
    from scipy.stats import rankdata

    found: _Floats = np.asarray(rankdata(values, axis=-1), dtype=float)
    return found


def defined(value: float) -> float | None:
    """A coefficient; None for nan."""
    return None if np.isnan(value) else float(value)


def _varies(values: _Floats) -> NDArray[np.bool_]:
    mean = values.mean(axis=-1)
    spread = np.linalg.norm(values - mean[..., None], axis=-1)
    varies: NDArray[np.bool_] = (spread > 0) & (spread > _CONSTANT * np.abs(mean))
    return varies
