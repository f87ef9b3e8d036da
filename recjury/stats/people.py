"""How far raters agree: Krippendorff's alpha, and one rating against the mean of the others."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from recjury.stats.draws import Array

Distance = Literal["ordinal", "interval"]


def krippendorff_alpha(
    units: Sequence[Sequence[float]], distance: Distance = "ordinal"
) -> float | None:
    """Krippendorff's alpha over units, each with its ratings in any order: 1 is perfect, 0 chance.

    Units with one rating do not count. None if no unit has two, or if all ratings are equal
    (Krippendorff 2011, "Computing Krippendorff's alpha-reliability").
    """
    paired = [np.asarray(unit, dtype=float) for unit in units if len(unit) > 1]
    if not paired:
        return None
    values, codes = np.unique(np.concatenate(paired), return_inverse=True)
    if len(values) < 2:
        return None
    counts = np.zeros((len(paired), len(values)))
    np.add.at(counts, (np.repeat(np.arange(len(paired)), [len(u) for u in paired]), codes), 1)
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

    The rating is drawn, since ratings of a unit are in no known order. None if fewer than three
    units have two ratings, or if one side never varies.
    """
    from scipy.stats import rankdata

    paired = [np.asarray(unit, dtype=float) for unit in units if len(unit) > 1]
    if len(paired) < 3:
        return None
    generator, found = np.random.default_rng(seed), []
    for _ in range(draws):
        places = [int(generator.integers(len(unit))) for unit in paired]
        one = np.array([unit[place] for unit, place in zip(paired, places, strict=True)])
        rest = (np.array([u.sum() for u in paired]) - one) / [len(u) - 1 for u in paired]
        if np.ptp(one) and np.ptp(rest):
            found.append(float(np.corrcoef(rankdata(one), rankdata(rest))[0, 1]))
    return float(np.mean(found)) if found else None


def _squared_distances(values: Array, totals: Array, distance: Distance) -> Array:
    """The squared distance of each two values."""
    if distance == "interval":
        found: Array = (values[:, None] - values) ** 2
        return found
    # The distance of two ranks: all ratings from one to the other, half of those at both ends.
    upto = np.cumsum(totals) - totals / 2
    ordinal: Array = (upto[:, None] - upto) ** 2
    return ordinal
