"""How alike two items are by what is known of them: maker, cast and genres."""

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
    """What is known of an item."""

    makers: frozenset[str]
    cast: frozenset[str]
    genres: frozenset[str]


_NOTHING = Traits(frozenset(), frozenset(), frozenset())


def traits_of(item: Item, graph: KnowledgeGraph | None) -> Traits:
    """The item's attributes; where it has none, what the graph says of it."""
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
    """The identity of what `traits_of` can find in a graph: the facts of items without attributes.

    The rest of the graph changes no score.
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
    """Very similar: a maker in common and a genre (or no genres known), or three quarters of at
    least two genres, or two of the cast. Somewhat: a maker, one of the cast, or a third of the
    genres in common. Shares of genres are those of both together (Jaccard)."""
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
    """Several targets: an item is as like them as it is to the nearest."""

    def __init__(self, targets: Iterable[Traits]):
        """Equal traits are compared once; targets of which nothing is known are left out."""
        self._traits = tuple(dict.fromkeys(t for t in targets if t != _NOTHING))
        # Recorded logs have a hundred targets with one set of genres: most pairs differ in
        # nothing that `similarity` looks at, and are settled by these unions.
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
