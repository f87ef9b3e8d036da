"""The knowledge graph: entities, relations, triples, and the edges that models train on."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from recjury.knowledge.recogniser import Mention, Name, TitleRecogniser
from recjury.records import digest

if TYPE_CHECKING:
    import networkx as nx


class Triple(NamedTuple):
    """One fact: the entity `head` has `tail` as its `relation`; all three are numbers."""

    head: int
    relation: int
    tail: int


class Edge(NamedTuple):
    """One directed edge for message passing: from `source` to `target`."""

    source: int
    target: int
    relation: int


class KnowledgeGraph:
    """Entities are numbered 0..N-1 and relations 0..R-1; both have names.

    `item_entities` are the entities that can be recommended, in the order of the data.
    `item_ids` maps entities to their ids in the catalogue.
    """

    def __init__(
        self,
        *,
        entities: Sequence[str],
        relations: Sequence[str],
        triples: Iterable[Triple],
        item_ids: Mapping[int, str],
        item_entities: Sequence[int],
        plain: Iterable[str] = ("genre", "language"),
        years: Mapping[int, int] | None = None,
        weights: Mapping[int, float] | None = None,
    ):
        """`plain` names the relations whose tails are ordinary words that always mean themselves.

        `link` uses `years` and `weights` of entities to choose between equal titles.
        """
        self.entities = tuple(entities)
        self.relations = tuple(relations)
        self.triples = tuple(triples)
        self.item_ids = dict(item_ids)
        self.item_entities = tuple(item_entities)
        self._plain = frozenset(plain)
        self._years = years or {}
        self._weights = weights or {}

    @cached_property
    def digest(self) -> str:
        """The identity of the whole content of the graph: names, numbers, triples, order.

        Takes about 10 ms for a graph of 50,000 triples.
        """
        return digest(
            [
                self.entities,
                self.relations,
                [number for triple in self.triples for number in triple],
                self.items_digest,
                sorted(self._plain),
                sorted(self._years.items()),
                sorted(self._weights.items()),
            ]
        )

    @cached_property
    def items_digest(self) -> str:
        """The identity of the mapping from entities to the catalogue's items."""
        return digest([len(self.entities), self.item_entities, sorted(self.item_ids.items())])

    def entity(self, name: str) -> int | None:
        """The number of the entity with exactly this name; None if there is no such entity."""
        return self._numbers.get(name)

    def entity_of(self, item: str) -> int | None:
        """The entity of the catalogue's item with this id; None if there is no such entity."""
        return self._entities_of_items.get(item)

    def item_of(self, entity: int) -> str | None:
        """The catalogue's id of this entity; None if it is not an item."""
        return self.item_ids.get(entity)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Each triple in both directions, with the same relation number and without repeats.

        A triple from an entity to itself gives one edge; no other self-loops are added. The edges
        are in the order of the triples, so that floating-point sums are reproducible.
        """
        found: dict[Edge, None] = {}
        for head, relation, tail in self.triples:
            found[Edge(head, tail, relation)] = None
            found[Edge(tail, head, relation)] = None
        return tuple(found)

    @cached_property
    def network(self) -> "nx.MultiDiGraph[int]":
        """The triples as a networkx graph.

        Nodes are entity numbers with a `name`. Keys are the names of relations, and edges have
        their `order` in the data.
        """
        import networkx as nx

        graph: nx.MultiDiGraph[int] = nx.MultiDiGraph(name="knowledge")
        graph.add_nodes_from((i, {"name": name}) for i, name in enumerate(self.entities))
        for order, (head, relation, tail) in enumerate(dict.fromkeys(self.triples)):
            graph.add_edge(head, tail, key=self.relations[relation], order=order)
        return graph

    def facts(self, entity: int) -> tuple[tuple[str, str], ...]:
        """The facts about an entity: (relation, name) pairs in the order of the data."""
        edges: list[tuple[int, int, str, int]] = sorted(
            self.network.out_edges(entity, keys=True, data="order"), key=lambda edge: edge[-1]
        )
        facts = ((relation, self.entities[tail]) for _, tail, relation, _ in edges)
        return tuple(dict.fromkeys(facts))

    def link(self, text: str) -> tuple[Mention, ...]:
        """Everything that `text` names, in text order; `Mention.id` is the entity number."""
        return self._recogniser.link(text)

    def mentioned(self, text: str) -> tuple[int, ...]:
        """The entities that `text` names, in text order, with repeats."""
        return tuple(int(mention.id) for mention in self.link(text))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.entities)}

    @cached_property
    def _entities_of_items(self) -> dict[str, int]:
        return {item: entity for entity, item in self.item_ids.items()}

    @cached_property
    def _recogniser(self) -> TitleRecogniser:
        plain = {
            triple.tail for triple in self.triples if self.relations[triple.relation] in self._plain
        }
        recommendable = set(self.item_entities)
        return TitleRecogniser(
            Name(
                str(number),
                name,
                year=self._years.get(number),
                weight=self._weights.get(number, 0.0) + (number in recommendable),
                cautious=number not in plain,
            )
            for number, name in enumerate(self.entities)
        )
