"""Correlations with bootstrap intervals by cluster, for thousands of resamples.

A resample is a row of weights: how often each pair was drawn. All sums of all resamples are then
matrix products, and ranks within a resample are sums of weights, so nothing is drawn pair by pair.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from recjury.records import Estimate
from recjury.stats.clustered import estimate
from recjury.stats.correlation import defined

_Floats = NDArray[np.float64]
_Data = TypeVar("_Data")

KENDALL_RESAMPLES = 1_000
"""Kendall's tau compares all pairs of pairs, so its interval is from fewer resamples."""
KENDALL_PAIRS = 2_500
"""With more pairs, tau has no interval: their comparisons would take more than 75 MB."""

_CELLS = 400_000  # weights in memory at once: 3 MB
_TINY = 1e-12


class CorrelationEstimates(NamedTuple):
    """Three coefficients over all pairs, and two within groups; each with its 95 % interval.

    Within groups, deviations from the group's mean are correlated: of the values for Pearson's r,
    of the ranks among all pairs for Spearman's rho. Kendall's is tau-b.
    """

    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    within_pearson: Estimate
    within_spearman: Estimate
    n: int


_NONE = Estimate(None)
NOTHING = CorrelationEstimates(_NONE, _NONE, _NONE, _NONE, _NONE, 0)
"""The correlations of no pairs."""


class _Pairs(NamedTuple):
    """Centred values, level of each value in sorted order, and the group of each pair."""

    x: _Floats
    y: _Floats
    x_level: NDArray[np.int64]
    y_level: NDArray[np.int64]
    in_group: _Floats  # [n, groups], 1 where the pair is in the group


def correlations(
    scores: Sequence[float] | _Floats,
    labels: Sequence[float] | _Floats,
    clusters: Sequence[str] | NDArray[np.str_],
    groups: Sequence[str] | NDArray[np.str_],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> CorrelationEstimates:
    """The correlations of `scores` [n] with `labels` [n], resampled by `clusters` [n].

    `groups` [n] are the systems. Coefficients are None where a side does not vary. Raises
    ValueError for different lengths, or without pairs.
    """
    x, y = np.asarray(scores, dtype=float), np.asarray(labels, dtype=float)
    if not len(x) == len(y) == len(clusters) == len(groups):
        raise ValueError(f"lengths differ: {len(x)}, {len(y)}, {len(clusters)}, {len(groups)}")
    if not len(x):
        raise ValueError("nothing to correlate")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return NOTHING._replace(n=len(x))
    pairs = _pairs(x, y, np.asarray(groups))
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    whole = np.ones((1, len(x)))
    four = _drawn(_coefficients, pairs, cluster, resamples, seed)
    pearson, spearman, within, within_ranks = (
        estimate(defined(value), drawn)
        for value, drawn in zip(_coefficients(pairs, whole)[0], four.T, strict=True)
    )
    kendall = _kendall_estimate(pairs, cluster, min(resamples, KENDALL_RESAMPLES), seed)
    return CorrelationEstimates(pearson, spearman, kendall, within, within_ranks, len(x))


def _drawn(
    statistic: Callable[[_Data, _Floats], _Floats],
    data: _Data,
    cluster: NDArray[np.intp],
    resamples: int,
    seed: int,
) -> _Floats:
    """The statistic of each resample."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [statistic(data, weights) for weights in _weights(cluster, resamples, rng)]
    )


def _pairs(x: _Floats, y: _Floats, groups: NDArray[np.str_]) -> _Pairs:
    names, group = np.unique(groups, return_inverse=True)
    return _Pairs(
        x - x.mean(),
        y - y.mean(),
        np.unique(x, return_inverse=True)[1].astype(np.int64),
        np.unique(y, return_inverse=True)[1].astype(np.int64),
        (group[:, None] == np.arange(len(names))).astype(float),
    )


def _weights(
    cluster: NDArray[np.intp], resamples: int, rng: np.random.Generator
) -> Iterator[_Floats]:
    """How often each pair is in each resample, some resamples at a time: [resamples, n]."""
    many = int(cluster.max()) + 1
    at_once = max(1, _CELLS // len(cluster))
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        counts = rng.multinomial(many, np.full(many, 1 / many), size=size)
        yield counts[:, cluster].astype(float)


def _coefficients(pairs: _Pairs, weights: _Floats) -> _Floats:
    """Pearson and Spearman, over all and within groups, for each row of weights: [rows, 4]."""
    total, of_group = weights.sum(axis=1), weights @ pairs.in_group
    values, ranked = _sums_of_values(pairs, weights), _sums_of_ranks(pairs, weights)
    found = (
        _overall(values, total),
        _overall(ranked, total),
        _within(values, of_group),
        _within(ranked, of_group),
    )
    return np.stack(found, axis=1)


class _Sums(NamedTuple):
    """Weighted sums of both sides by group [rows, groups], and of their products [rows]."""

    x: _Floats
    y: _Floats
    xx: _Floats
    yy: _Floats
    xy: _Floats


def _sums_of_values(pairs: _Pairs, weights: _Floats) -> _Sums:
    x, y = pairs.x, pairs.y
    return _Sums(
        weights @ (x[:, None] * pairs.in_group),
        weights @ (y[:, None] * pairs.in_group),
        *(weights @ np.stack([x * x, y * y, x * y], axis=1)).T,
    )


def _sums_of_ranks(pairs: _Pairs, weights: _Floats) -> _Sums:
    x, y = _ranks(pairs.x_level, weights), _ranks(pairs.y_level, weights)
    drawn_x, drawn_y = weights * x, weights * y
    products = (np.einsum("rn,rn->r", a, b) for a, b in ((drawn_x, x), (drawn_y, y), (drawn_x, y)))
    return _Sums(drawn_x @ pairs.in_group, drawn_y @ pairs.in_group, *products)


def _overall(sums: _Sums, total: _Floats) -> _Floats:
    x, y = sums.x.sum(axis=1), sums.y.sum(axis=1)
    return _ratio(sums, sums.xx - x * x / total, sums.yy - y * y / total, sums.xy - x * y / total)


def _within(sums: _Sums, of_group: _Floats) -> _Floats:
    many = np.where(of_group > 0, of_group, 1.0)
    left = (
        product - (a * b / many).sum(axis=1)
        for product, a, b in (
            (sums.xx, sums.x, sums.x),
            (sums.yy, sums.y, sums.y),
            (sums.xy, sums.x, sums.y),
        )
    )
    return _ratio(sums, *left)


def _ratio(sums: _Sums, xx: _Floats, yy: _Floats, xy: _Floats) -> _Floats:
    """xy / sqrt(xx yy); nan where a side varies by no more than rounding errors."""
    varies = (xx > _TINY * sums.xx) & (yy > _TINY * sums.yy)
    root = np.sqrt(np.where(varies, xx * yy, 1.0))
    found: _Floats = np.where(varies, np.clip(xy / root, -1, 1), np.nan)
    return found


def _ranks(level: NDArray[np.int64], weights: _Floats) -> _Floats:
    """The mean rank of each pair's value in each resample, less the middle rank: [rows, n]."""
    order = np.argsort(level, kind="stable")
    starts = np.flatnonzero(np.diff(level[order], prepend=-1))
    of_level = np.add.reduceat(weights[:, order], starts, axis=1)
    upto = np.cumsum(of_level, axis=1)
    middle = (weights.sum(axis=1, keepdims=True)) / 2
    found: _Floats = (upto - of_level / 2 - middle)[:, level]
    return found


class _Signs(NamedTuple):
    """For each two pairs: whether they agree in order (1, -1 or 0), and are untied: [n, n] each."""

    agreed: NDArray[np.float32]
    x_untied: NDArray[np.float32]
    y_untied: NDArray[np.float32]


def _kendall_estimate(
    pairs: _Pairs, cluster: NDArray[np.intp], resamples: int, seed: int
) -> Estimate:
    from scipy.stats import kendalltau

    value = float(kendalltau(pairs.x_level, pairs.y_level).statistic)
    if len(pairs.x) > KENDALL_PAIRS:
        return Estimate(value)
    return estimate(defined(value), _drawn(_kendall, _signs(pairs), cluster, resamples, seed))


def _signs(pairs: _Pairs) -> _Signs:
    # Weights are small whole numbers: their products with these are exact in 32 bits.
    x = np.sign(pairs.x_level[:, None] - pairs.x_level).astype(np.float32)
    y = np.sign(pairs.y_level[:, None] - pairs.y_level).astype(np.float32)
    return _Signs(x * y, np.abs(x), np.abs(y))


def _kendall(signs: _Signs, weights: _Floats) -> _Floats:
    """Tau-b: concordant less discordant pairs, over the root of the pairs untied on each side."""
    agreed, x_untied, y_untied = (np.einsum("rn,rn->r", weights @ each, weights) for each in signs)
    varies = (x_untied > 0) & (y_untied > 0)
    root = np.sqrt(np.where(varies, x_untied * y_untied, 1.0))
    found: _Floats = np.where(varies, agreed / root, np.nan)
    return found
