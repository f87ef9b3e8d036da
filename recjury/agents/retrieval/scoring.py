"""Scores items for the understood wishes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.agents.retrieval.library import Library
from recjury.agents.retrieval.understanding import Understanding


class Weights(NamedTuple):
    """How much each kind of evidence counts.

    The values were set by hand and then compared on OpenDialKG's validation split. `repeated` is
    subtracted from items that were named before: a user who asks for something like "Heat" already
    knows "Heat".
    """

    words: float = 0.7
    wanted: float = 2.0
    liked: float = 1.0
    years: float = 4.0
    popularity: float = 2.0
    unwanted: float = 4.0
    repeated: float = 6.0


WEIGHTS = Weights()
_REJECTED = 1e6
_BELOW_ANY_REJECTED = -1e5
_OTHER_DOMAIN = 100.0  # a user who looks for a book wants no film, however well it fits


class Ranked(NamedTuple):
    """An item by its row, and its score (any real number, higher is better)."""

    row: int
    score: float


def rank(library: Library, wish: Understanding, length: int) -> list[Ranked]:
    """The best items, best first; items with equal scores are in the catalogue's order.

    The item that was asked about comes first. Rejected items are left out unless there are no
    others.
    """
    scores = _scores(library, wish, WEIGHTS)
    asked = wish.asked_about
    if asked is not None:
        scores[asked] = scores.max() + 1.0
    order = np.argsort(-scores, kind="stable")[:length]
    ranked = [Ranked(int(row), float(scores[row])) for row in order]
    return [each for each in ranked if each.score > _BELOW_ANY_REJECTED] or ranked


def _scores(library: Library, wish: Understanding, weights: Weights) -> NDArray[np.float64]:
    scores = weights.popularity * library.popularity + weights.words * library.search(wish.words)
    for name, weight in wish.wanted.items():
        attribute = library.attributes[name]
        scores[list(attribute.all_rows)] += weights.wanted * weight * attribute.weight
    for (first, last), weight in wish.years.items():
        asked_for = (first <= library.years) & (library.years <= last)
        scores[asked_for] += weights.years * weight
    for row, weight in wish.liked.items():
        _add_neighbours(scores, library, row, weights.liked * weight)
    for name in wish.unwanted:
        scores[list(library.attributes[name].all_rows)] -= weights.unwanted
    if wish.domain is not None:
        scores[library.rows_beside(wish.domain.name)] -= _OTHER_DOMAIN
    for row in {*wish.liked, *wish.recommended}:
        scores[row] -= weights.repeated
    scores[list(wish.rejected)] -= _REJECTED
    return scores


def _add_neighbours(scores: NDArray[np.float64], library: Library, row: int, weight: float) -> None:
    """Add to each item a score for the attributes it shares with `row`; rare ones count most."""
    names = library.attributes_of(row)
    share = weight / np.sqrt(max(1, len(names)))
    for name in names:
        attribute = library.attributes[name]
        scores[list(attribute.all_rows)] += share * attribute.weight
