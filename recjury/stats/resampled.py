"""Correlations with bootstrap intervals by cluster, for ten thousand resamples in a second.

A resample is a row of weights: how often each pair was drawn. All sums of all resamples are then
matrix products, and ranks within a resample are sums of weights, so nothing is drawn pair by pair.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.stats.clustered import BootstrapEstimate

_Floats = NDArray[np.float64]

_CELLS = 400_000  # weights in memory at once: 3 MB
_TINY = 1e-12


class CorrelationEstimates(NamedTuple):
    """Three coefficients over all pairs, and two within groups; each with its 95 % interval.

    Within groups, deviations from the group's mean are correlated: of the values for Pearson's r,
    of the ranks among all pairs for Spearman's rho. Kendall's tau-b is None if it was not asked
    for.
    """

    pearson: BootstrapEstimate
    spearman: BootstrapEstimate
    kendall: BootstrapEstimate | None
    within_pearson: BootstrapEstimate
    within_spearman: BootstrapEstimate
    n: int


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
    kendall: bool = True,
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
    pairs = _pairs(x, y, np.asarray(groups))
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    rng = np.random.default_rng(seed)
    whole = _coefficients(pairs, np.ones((1, len(x))), kendall=kendall)[0]
    drawn = np.concatenate(
        [
            _coefficients(pairs, weights, kendall=kendall)
            for weights in _weights(cluster, resamples, rng)
        ]
        or [np.empty((0, 5))]
    )
    found = [_estimate(whole[place], drawn[:, place]) for place in range(5)]
    pearson, spearman, tau, within, within_ranks = found
    return CorrelationEstimates(
        pearson, spearman, tau if kendall else None, within, within_ranks, len(x)
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


def _coefficients(pairs: _Pairs, weights: _Floats, *, kendall: bool) -> _Floats:
    """Pearson, Spearman, Kendall, and the first two within groups, by row of weights: [rows, 5]."""
    total, of_group = weights.sum(axis=1), weights @ pairs.in_group
    values, ranked = _sums_of_values(pairs, weights), _sums_of_ranks(pairs, weights)
    tau = _kendall(pairs, weights) if kendall else np.full(len(weights), np.nan)
    found = (
        _overall(values, total),
        _overall(ranked, total),
        tau,
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


def _kendall(pairs: _Pairs, weights: _Floats) -> _Floats:
    """Tau-b: concordant less discordant pairs, over the root of the pairs untied on each side."""
    x = np.sign(pairs.x_level[:, None] - pairs.x_level).astype(float)
    y = np.sign(pairs.y_level[:, None] - pairs.y_level).astype(float)
    agreed = ((weights @ (x * y)) * weights).sum(axis=1)
    untied = [((weights @ np.abs(each)) * weights).sum(axis=1) for each in (x, y)]
    varies = (untied[0] > 0) & (untied[1] > 0)
    root = np.sqrt(np.where(varies, untied[0] * untied[1], 1.0))
    found: _Floats = np.where(varies, agreed / root, np.nan)
    return found


def _estimate(value: float, drawn: _Floats) -> BootstrapEstimate:
    known = drawn[~np.isnan(drawn)]
    defined = known.size / drawn.size if drawn.size else 0.0
    shown = None if np.isnan(value) else float(value)
    if defined < 0.5:
        return BootstrapEstimate(shown, None, None, defined)
    low, high = np.quantile(known, [0.025, 0.975])
    return BootstrapEstimate(shown, float(low), float(high), defined)
