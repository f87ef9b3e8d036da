"""The similarity of two items by their makers, cast and categories."""

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from recjury.knowledge import Catalogue, KnowledgeGraph
from recjury.language.genres import canonical_genres
from recjury.records import AttributeKind, Domain, Item, digest

_KINDS: tuple[AttributeKind, ...] = ("maker", "cast", "category")


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


_NOTHING = ItemTraits(frozenset(), frozenset(), frozenset())


def traits_of(item: Item, domain: Domain, graph: KnowledgeGraph | None) -> ItemTraits:
    """The item's attributes, as its domain says them; if it has none, those from the graph."""
    makers, cast, genres = (_values(item, domain, kind) for kind in _KINDS)
    if graph is None or makers or cast or genres:
        categories = (name for genre in genres for name in canonical_genres(genre))
        return ItemTraits(makers, cast, frozenset(categories))
    entity = graph.entity_of(item.id)
    facts = () if entity is None else graph.facts(entity)
    return ItemTraits(
        frozenset(_tails(facts, "direct", "writ")),
        frozenset(_tails(facts, "star", "actor")),
        frozenset(g for genre in _tails(facts, "genre") for g in canonical_genres(genre)),
    )


def graph_digest(catalogue: Catalogue, graph: KnowledgeGraph) -> str:
    """The identity of the part of the graph that `traits_of` uses.

    These are the facts about items without attributes. The rest of the graph affects no score.
    """
    bare = sorted({id_ for id_ in graph.item_ids.values() if _known_bare(id_, catalogue)})
    entities = {id_: graph.entity_of(id_) for id_ in bare}
    return digest({id_: graph.facts(e) for id_, e in entities.items() if e is not None})


def _known_bare(id_: str, catalogue: Catalogue) -> bool:
    if id_ not in catalogue:
        return False
    item = catalogue.item(id_)
    return not any(_values(item, catalogue.domain_of(item), kind) for kind in _KINDS)


def _values(item: Item, domain: Domain, kind: AttributeKind) -> frozenset[str]:
    """The item's values of one kind; a language makes no two items similar."""
    attributes = (each for each in domain.of_kind(kind) if each.name != "language")
    return frozenset(value for each in attributes for value in each.of(item))


def _tails(facts: Iterable[tuple[str, str]], *parts: str) -> list[str]:
    return [tail for relation, tail in facts if any(part in relation.lower() for part in parts)]


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


class Targets:
    """Several targets; the similarity of an item to them is that to the nearest target."""

    def __init__(self, targets: Iterable[ItemTraits]):
        """Equal traits are compared once; targets without known attributes are left out."""
        self._traits = tuple(dict.fromkeys(t for t in targets if t != _NOTHING))
        # Recorded logs have about a hundred targets with the same genres. These unions answer most
        # comparisons without a loop over the targets.
        self._people = frozenset(p for t in self._traits for p in (*t.makers, *t.cast))
        self._genres = tuple(dict.fromkeys(t.genres for t in self._traits))

    def __bool__(self) -> bool:
        """Whether anything is known of any target."""
        return bool(self._traits)

    def nearest(self, item: ItemTraits) -> Similarity:
        """The similarity to the nearest target."""
        if self._people & (item.makers | item.cast):
            return max(
                (similarity(item, target) for target in self._traits), default=Similarity.UNLIKE
            )
        bare = ItemTraits(frozenset(), frozenset(), item.genres)
        alike = (similarity(bare, ItemTraits(frozenset(), frozenset(), g)) for g in self._genres)
        return max(alike, default=Similarity.UNLIKE)
