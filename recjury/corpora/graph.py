"""`KnowledgeGraph`: items, their attribute values, and the relations between them."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from recjury.corpora.words import fold


class Node(NamedTuple):
    """An item by its id, or a value in its folded form: a person is one value in all parts."""

    kind: Literal["item", "value"]
    key: str


class Fact(NamedTuple):
    """An item has a value in a relation: `("f205", "director", "Michael Mann")`."""

    item: str
    relation: str
    value: str


class KnowledgeGraph:
    """A directed edge from an item to each of its values, whose key is the relation."""

    def __init__(self, facts: Iterable[Fact], items: Iterable[str] = ()):
        """`items` are nodes also without facts; they come first, in their order."""
        import networkx as nx

        self.graph: nx.MultiDiGraph[Node] = nx.MultiDiGraph()
        self.graph.add_nodes_from(Node("item", item) for item in items)
        for item, relation, value in facts:
            node = Node("value", fold(value) or value)
            if node not in self.graph:
                self.graph.add_node(node, name=value)
            self.graph.add_edge(Node("item", item), node, key=relation)

    def items_with(self, relation: str | None, value: str) -> set[str]:
        """The ids of the items that have a value in a relation; in any, if that is None."""
        node = Node("value", fold(value) or value)
        if node not in self.graph:
            return set()
        found = self.graph.in_edges(node, keys=True)
        return {item.key for item, _, key in found if relation in (key, None)}

    def values_of(self, item: str) -> list[tuple[str, str]]:
        """Relation and value of each of an item's facts, in the order of the data."""
        node = Node("item", item)
        if node not in self.graph:
            return []
        edges = self.graph.out_edges(node, keys=True)
        return [(relation, self.graph.nodes[value]["name"]) for _, value, relation in edges]

    def shared(self, one: str, other: str) -> list[tuple[str, str]]:
        """Relation and value of what two items have in common, in the order of the first."""
        theirs = set(self.values_of(other))
        return [fact for fact in self.values_of(one) if fact in theirs]
