"""Agreement among raters: Krippendorff's alpha, and one rater against the mean of the others."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

Distance = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(
    units: Sequence[Sequence[float]], distance: Distance = "ordinal"
) -> float | None:
    """Krippendorff's alpha over units, each with the ratings that it got, in any order.

    1 is perfect agreement, 0 that of chance. Units with fewer than two ratings do not count. None
    if no unit has two, or if all ratings are equal (Krippendorff 2011, "Computing Krippendorff's
    alpha-reliability").
    """
    paired = [np.asarray(unit, dtype=float) for unit in units if len(unit) > 1]
    if not paired:
        return None
    values, codes = np.unique(np.concatenate(paired), return_inverse=True)
    if len(values) < 2:
        return None
    counts = _counts(codes, [len(unit) for unit in paired], len(values))
    of_unit = counts.sum(axis=1)
    coincidences = (counts.T / (of_unit - 1)) @ counts
    coincidences -= np.diag((counts / (of_unit - 1)[:, None]).sum(axis=0))
    totals = coincidences.sum(axis=1)
    apart = _squared_distances(values, totals, distance)
    expected = np.outer(totals, totals) / (totals.sum() - 1)
    return float(1 - (coincidences * apart).sum() / (expected * apart).sum())


def one_against_the_rest(
    units: Sequence[Sequence[float]], *, draws: int = 100, seed: int = 0
) -> float | None:
    """Spearman's rho of one rating of each unit with the mean of its others, over `draws`.

    The rating is drawn, since ratings of a unit are in no known order; undefined draws are left
    out. None if fewer than two units have two ratings, or if no draw is defined.
    """
    from recjury.stats.correlation import correlate_rows

    paired = [np.asarray(unit, dtype=float) for unit in units if len(unit) > 1]
    if len(paired) < 2:
        return None
    rng = np.random.default_rng(seed)
    sizes = np.array([len(unit) for unit in paired])
    sums = np.array([unit.sum() for unit in paired])
    chosen = rng.integers(0, sizes, (draws, len(paired)))
    padded = np.zeros((len(paired), sizes.max()))
    for row, unit in zip(padded, paired, strict=True):
        row[: len(unit)] = unit
    one = padded[np.arange(len(paired)), chosen]
    found = correlate_rows(one, (sums - one) / (sizes - 1)).spearman
    known = found[~np.isnan(found)]
    return float(known.mean()) if known.size else None


def _counts(codes: NDArray[np.int64], sizes: Sequence[int], levels: int) -> _Floats:
    """How often each unit got each value: [units, levels]."""
    counts = np.zeros((len(sizes), levels))
    np.add.at(counts, (np.repeat(np.arange(len(sizes)), sizes), codes), 1)
    return counts


def _squared_distances(values: _Floats, totals: _Floats, distance: Distance) -> _Floats:
    """The squared distance of each pair of values: [levels, levels]."""
    if distance == "nominal":
        return 1 - np.eye(len(values))
    if distance == "interval":
        found: _Floats = (values[:, None] - values) ** 2
        return found
    # The distance of two ranks: all ratings from one to the other, half of those at both ends.
    upto = np.cumsum(totals) - totals / 2
    ordinal: _Floats = (upto[:, None] - upto) ** 2
    return ordinal
