"""How far several scores of the same things move together."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.records import Estimate
from recjury.stats.clustered import estimate

_Floats = NDArray[np.float64]
LOW, HIGH = 0.2, 0.5
_AT_ONCE = 200  # resamples


class Coupling(NamedTuple):
    """Pearson's r of each two of k columns [k, k], nan where a column does not vary.

    Of the `pairs` with a correlation, `low` are below .2 and `high` at least .5, both without the
    sign; `mean` is their mean, with the sign, and its interval. `halo` is the share (1/k to 1) of
    the columns' variance that one general impression explains: the largest eigenvalue of the
    correlations, over k. It is None if columns do not vary, or the pairs' correlations do not fit
    together (missing values). `n` counts the rows with at least two values.
    """

    matrix: _Floats
    pairs: int
    low: int
    high: int
    mean: Estimate
    halo: float | None
    n: int


def coupling(
    columns: _Floats, clusters: Sequence[str], *, resamples: int = 1_000, seed: int = 0
) -> Coupling:
    """The coupling of `columns` [n, k], which may have nan; rows are resampled by `clusters` [n].

    Raises ValueError for fewer than two columns, or no rows.
    """
    n, k = columns.shape
    if k < 2 or not n:
        raise ValueError(f"expected rows and at least two columns, got {n} and {k}")
    matrix = _matrices(columns, np.ones((1, n)))[0]
    found = np.array([matrix[i, j] for i, j in combinations(range(k), 2)])
    known = np.abs(found[~np.isnan(found)])
    drawn = _mean_of_pairs(columns, clusters, resamples, seed)
    return Coupling(
        matrix,
        len(known),
        int((known < LOW).sum()),
        int((known >= HIGH).sum()),
        estimate(_mean(found), drawn),
        _halo(matrix),
        int(((~np.isnan(columns)).sum(axis=1) > 1).sum()),
    )


def _mean(found: _Floats) -> float | None:
    known = found[~np.isnan(found)]
    return float(known.mean()) if len(known) else None


def _halo(matrix: _Floats) -> float | None:
    if np.isnan(matrix).any():
        return None
    values = np.linalg.eigvalsh(matrix)
    # Correlations over different rows may be those of no data at all.
    return float(values[-1] / len(matrix)) if values[0] > -1e-6 else None


def _mean_of_pairs(columns: _Floats, clusters: Sequence[str], resamples: int, seed: int) -> _Floats:
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    many, k = int(cluster.max()) + 1, columns.shape[1]
    rng = np.random.default_rng(seed)
    upper = np.triu_indices(k, 1)
    means: list[_Floats] = []
    for start in range(0, resamples, _AT_ONCE):
        size = min(_AT_ONCE, resamples - start)
        counts = rng.multinomial(many, np.full(many, 1 / many), size=size)
        pairs = _matrices(columns, counts[:, cluster].astype(float))[:, upper[0], upper[1]]
        known = ~np.isnan(pairs)
        total = np.where(known, pairs, 0.0).sum(axis=1)
        means.append(np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan))
    return np.concatenate(means)


def _matrices(columns: _Floats, weights: _Floats) -> _Floats:
    """The correlations of each two columns, over rows with both, by row of weights: [rows, k, k].

    All sums are matrix products: of a column's values with another one's presence.
    """
    present = (~np.isnan(columns)).astype(float)
    centred = columns - np.nanmean(np.where(present.any(axis=0), columns, 0.0), axis=0)
    values = np.where(present > 0, centred, 0.0)

    def sums(a: _Floats, b: _Floats) -> _Floats:
        found: _Floats = np.einsum("rn,ni,nj->rij", weights, a, b, optimize=True)
        return found

    count = sums(present, present)
    x, xx, xy = sums(values, present), sums(values**2, present), sums(values, values)
    y, yy = x.transpose(0, 2, 1), xx.transpose(0, 2, 1)
    safe = np.maximum(count, 1.0)
    left, right, both = xx - x * x / safe, yy - y * y / safe, xy - x * y / safe
    varies = (
        (count > 1)
        & (left > 1e-12 * np.maximum(xx, 1e-300))
        & (right > 1e-12 * np.maximum(yy, 1e-300))
    )
    root = np.sqrt(np.where(varies, left * right, 1.0))
    found: _Floats = np.where(varies, np.clip(both / root, -1, 1), np.nan)
    return found
