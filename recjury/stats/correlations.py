"""Correlations with bootstrap intervals by cluster: over all, and within groups such as systems.

A resample is a row of weights, so all sums are matrix products, and the ranks within a resample are
sums of weights: nothing is drawn observation by observation.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recjury.stats.draws import FEWEST_CLUSTERS, Array, Draws, interval

_TINY = 1e-12
_DIGITS = 9  # scores that differ in the 12th digit are tied
_KENDALL_DRAWS = 500
_KENDALL_MOST = 2_500  # observations; more have no interval: all pairs would take too much memory


class Coefficient(NamedTuple):
    """A correlation (-1 to 1) and its 95 % interval; NaN if a side does not vary."""

    value: float
    low: float
    high: float


class Correlations(NamedTuple):
    """Pearson's r, Spearman's rho and Kendall's tau-b over `n` observations.

    Within groups, deviations from the group's mean are correlated: of the values for Pearson's r,
    of the ranks among all for Spearman's rho.
    """

    pearson: Coefficient
    spearman: Coefficient
    kendall: Coefficient
    within_pearson: Coefficient
    within_spearman: Coefficient
    n: int


def correlations(
    x: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
    groups: ArrayLike,
    *,
    times: int = 2000,
    seed: int = 0,
    fewest: int = 2,
) -> Correlations:
    """The correlations of two columns without NaN.

    All are NaN if a column does not vary or has fewer than `fewest` values. Of fewer than 8
    clusters there is no interval.
    """
    first, second = rounded(x), rounded(y)
    if len(first) < fewest or np.ptp(first) == 0 or np.ptp(second) == 0:
        none = Coefficient(float("nan"), float("nan"), float("nan"))
        return Correlations(none, none, none, none, none, len(first))
    draws = Draws(clusters, times=times, seed=seed)
    four = coefficients(first, second, groups, draws)
    number = len(np.unique(np.asarray(clusters)))
    pearson, spearman, within, within_ranks = (_estimate(column, number) for column in four.T)
    kendall = _kendall(first, second, draws, number)
    return Correlations(pearson, spearman, kendall, within, within_ranks, len(first))


def coefficients(x: Array, y: Array, groups: ArrayLike, draws: Draws) -> Array:
    """Pearson and Spearman over all, then both within groups, for each draw: `[1 + times, 4]`."""
    names, group = np.unique(np.asarray(groups), return_inverse=True)
    member = (group[:, None] == np.arange(len(names))).astype(float)
    levels = [np.unique(side, return_inverse=True)[1] for side in (x, y)]
    centred = x - x.mean(), y - y.mean()
    rows = []
    for weights in draws.weights():
        ranks = [_ranks(level, weights) for level in levels]
        values = [np.broadcast_to(side, weights.shape) for side in centred]
        four = [
            _correlation(one, other, weights, groups_)
            for groups_ in (np.ones((len(x), 1)), member)
            for one, other in (values, ranks)
        ]
        rows.append(np.stack(four, axis=1))
    return np.concatenate(rows)


def rounded(values: ArrayLike) -> Array:
    """Values that differ by a rounding error alone are equal, since ranks tell them apart."""
    found: Array = np.round(np.asarray(values, dtype=float), _DIGITS)
    return found


def _correlation(x: Array, y: Array, weights: Array, member: Array) -> Array:
    """The weighted correlation of deviations from the groups' means; NaN if a side is constant."""
    counts: Array = weights @ member
    counts = np.where(counts > 0, counts, 1.0)
    drawn_x, drawn_y = weights * x, weights * y
    sums_x, sums_y = drawn_x @ member, drawn_y @ member
    whole = [np.einsum("rn,rn->r", a, b) for a, b in ((drawn_x, x), (drawn_y, y), (drawn_x, y))]
    between = [
        (a * b / counts).sum(axis=1) for a, b in ((sums_x,) * 2, (sums_y,) * 2, (sums_x, sums_y))
    ]
    xx, yy, xy = (one - other for one, other in zip(whole, between, strict=True))
    varies = (xx > _TINY * whole[0]) & (yy > _TINY * whole[1])
    root = np.sqrt(np.where(varies, xx * yy, 1.0))
    return np.where(varies, np.clip(xy / root, -1, 1), np.nan)


def _ranks(level: NDArray[np.int64], weights: Array) -> Array:
    """The mean rank of each observation in each draw, less the middle one: `[rows, n]`."""
    order = np.argsort(level, kind="stable")
    starts = np.flatnonzero(np.diff(level[order], prepend=-1))
    of_level = np.add.reduceat(weights[:, order], starts, axis=1)
    upto = np.cumsum(of_level, axis=1)
    middle = weights.sum(axis=1, keepdims=True) / 2
    found: Array = (upto - of_level / 2 - middle)[:, level]
    return found


def _kendall(x: Array, y: Array, draws: Draws, clusters: int) -> Coefficient:
    """Tau-b; its interval is from fewer draws, since it compares all pairs of observations."""
    from scipy.stats import kendalltau

    value = float(kendalltau(x, y).statistic)
    if len(x) > _KENDALL_MOST:
        return Coefficient(value, float("nan"), float("nan"))
    sign_x, sign_y = (np.sign(np.subtract.outer(side, side)).astype(np.float32) for side in (x, y))
    agreed, untied_x, untied_y = sign_x * sign_y, np.abs(sign_x), np.abs(sign_y)
    found = []
    for weights in draws.weights(_KENDALL_DRAWS):
        drawn = weights.astype(np.float32)
        score, both_x, both_y = (
            np.einsum("rn,rn->r", drawn @ signs, drawn).astype(float)
            for signs in (agreed, untied_x, untied_y)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append(score / np.sqrt(both_x * both_y))
    return _estimate(np.concatenate([[value], np.concatenate(found)[1:]]), clusters)


def _estimate(draws: Array, clusters: int) -> Coefficient:
    low_high = interval(draws, clusters=clusters, fewest=FEWEST_CLUSTERS)
    return Coefficient(float(draws[0]), *low_high)
