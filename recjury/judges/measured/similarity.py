"""The similarity of two items by their makers, cast and categories."""

from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from recjury.knowledge import Catalogue
from recjury.language.genres import canonical_genres
from recjury.records import AttributeKind


class Similarity(IntEnum):
    """How similar two items are, in the words of the rubric (CoRE, appendix A.1.7)."""

    UNLIKE = 0
    SOMEWHAT = 1
    VERY = 2


class ItemTraits(NamedTuple):
    """The attributes of an item: who made it, who takes part in it, and what kind it is.

    Of films these are directors and writers, actors, and genres.
    """

    makers: frozenset[str]
    cast: frozenset[str]
    genres: frozenset[str]


@lru_cache(65_536)
def traits_of(item_id: str, catalogue: Catalogue) -> ItemTraits:
    """The attributes of an item of the catalogue, as its domain says them; a language makes no two
    items similar."""
    item = catalogue.item(item_id)
    domain = catalogue.domain_of(item)

    def values(kind: AttributeKind) -> frozenset[str]:
        kinds = (each for each in domain.of_kind(kind) if each.name != "language")
        return frozenset(value for each in kinds for value in each.of(item))

    genres = (name for genre in values("category") for name in canonical_genres(genre))
    return ItemTraits(values("maker"), values("cast"), frozenset(genres))


@lru_cache(65_536)
def nearest(one: ItemTraits, others: frozenset[ItemTraits]) -> Similarity:
    """How similar an item is to the most similar one of others (at least one)."""
    return max(similarity(one, other) for other in others)


def similarity(one: ItemTraits, other: ItemTraits) -> Similarity:
    """How similar two items are.

    Very similar: they share a maker and a genre (or a maker, if genres are unknown), or at least
    two genres and three quarters of them, or two of the cast. Somewhat similar: they share a maker,
    one of the cast, or a third of the genres. Shares of genres are Jaccard indices.
    """
    makers = bool(one.makers & other.makers)
    cast = len(one.cast & other.cast)
    common = len(one.genres & other.genres)
    share = common / len(one.genres | other.genres) if common else 0.0
    if (makers and (common or not (one.genres and other.genres))) or cast > 1:
        return Similarity.VERY
    if share >= 0.75 and common > 1:
        return Similarity.VERY
    return Similarity.SOMEWHAT if makers or cast or share >= 1 / 3 else Similarity.UNLIKE
