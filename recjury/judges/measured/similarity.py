"""The similarity of two items by their directors, writers, cast and genres."""

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from recjury.judges.measured.genres import canonical_genres, genres_of
from recjury.knowledge import Catalogue, KnowledgeGraph
from recjury.records import Item, digest


class Similarity(IntEnum):
    """How similar two items are, in the words of the rubric (CoRE, appendix A.1.7)."""

    UNLIKE = 0
    SOMEWHAT = 1
    VERY = 2


class Traits(NamedTuple):
    """The attributes of an item; `makers` are its directors and writers."""

    makers: frozenset[str]
    cast: frozenset[str]
    genres: frozenset[str]


_NOTHING = Traits(frozenset(), frozenset(), frozenset())


def traits_of(item: Item, graph: KnowledgeGraph | None) -> Traits:
    """The item's attributes; if it has none, those from the graph."""
    if graph is None or not _is_bare(item):
        return Traits(
            frozenset((*item.directors, *item.writers)), frozenset(item.actors), genres_of(item)
        )
    entity = graph.entity_of(item.id)
    facts = () if entity is None else graph.facts(entity)
    return Traits(
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
    return id_ in catalogue and _is_bare(catalogue.item(id_))


def _is_bare(item: Item) -> bool:
    return not (item.directors or item.writers or item.actors or item.genres)


def _tails(facts: Iterable[tuple[str, str]], *parts: str) -> list[str]:
    return [tail for relation, tail in facts if any(part in relation.lower() for part in parts)]


def similarity(one: Traits, other: Traits) -> Similarity:
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

    def __init__(self, targets: Iterable[Traits]):
        """Equal traits are compared once; targets without known attributes are left out."""
        self._traits = tuple(dict.fromkeys(t for t in targets if t != _NOTHING))
        # Recorded logs have about a hundred targets with the same genres. These unions answer most
        # comparisons without a loop over the targets.
        self._people = frozenset(p for t in self._traits for p in (*t.makers, *t.cast))
        self._genres = tuple(dict.fromkeys(t.genres for t in self._traits))

    def __bool__(self) -> bool:
        """Whether anything is known of any target."""
        return bool(self._traits)

    def nearest(self, item: Traits) -> Similarity:
        """The similarity to the nearest target."""
        if self._people & (item.makers | item.cast):
            return max(
                (similarity(item, target) for target in self._traits), default=Similarity.UNLIKE
            )
        bare = Traits(frozenset(), frozenset(), item.genres)
        alike = (similarity(bare, Traits(frozenset(), frozenset(), g)) for g in self._genres)
        return max(alike, default=Similarity.UNLIKE)
