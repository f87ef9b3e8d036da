"""The graph gives models their edges, and people what it says of a film."""

import pytest

from recjury.knowledge import Edge, KnowledgeGraph, Triple

GRAPH = KnowledgeGraph(
    entities=("Heat (1995)", "crime", "Al Pacino", "Up (2009)", "family"),
    relations=("genre", "actor"),
    triples=(
        Triple(0, 0, 1),
        Triple(0, 1, 2),
        Triple(0, 0, 1),
        Triple(3, 0, 4),
        Triple(1, 0, 1),
    ),
    item_ids={0: "f1", 3: "f2"},
    item_entities=(0, 3),
)


def test_edges_go_both_ways_once_and_keep_self_loops() -> None:
    assert GRAPH.edges == (
        Edge(0, 1, 0),
        Edge(1, 0, 0),
        Edge(0, 2, 1),
        Edge(2, 0, 1),
        Edge(3, 4, 0),
        Edge(4, 3, 0),
        Edge(1, 1, 0),
    )


def test_items_and_entities_know_each_other() -> None:
    assert GRAPH.entity("Al Pacino") == 2
    assert GRAPH.entity("al pacino") is None
    assert GRAPH.entity_of("f2") == 3
    assert GRAPH.item_of(3) == "f2"
    assert GRAPH.item_of(1) is None
    assert GRAPH.facts(0) == (("genre", "crime"), ("actor", "Al Pacino"))
    assert GRAPH.facts(2) == ()


def test_genres_are_found_in_any_case_and_titles_only_where_marked() -> None:
    assert GRAPH.mentioned("a Crime film with al pacino for the family") == (1, 2, 4)
    assert GRAPH.mentioned("what is up with crime and crime") == (1, 1)
    assert GRAPH.mentioned("I enjoyed Up very much") == (3,)


def test_the_networkx_view_holds_names_and_relations() -> None:
    network = GRAPH.network
    assert network.number_of_nodes() == 5
    assert network.number_of_edges() == 4
    assert network.nodes[2]["name"] == "Al Pacino"
    assert list(network[0][2]) == ["actor"]


def _graph(**changes: object) -> KnowledgeGraph:
    content: dict[str, object] = {
        "entities": GRAPH.entities,
        "relations": GRAPH.relations,
        "triples": GRAPH.triples,
        "item_ids": {3: "f2", 0: "f1"},
        "item_entities": [0, 3],
        "years": {3: 2009, 0: 1995},
    }
    return KnowledgeGraph(**content | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        {"entities": ("Heat (1995)", "crime", "Al Pacino", "Up (2010)", "family")},
        {"relations": ("genre", "director")},
        {"triples": GRAPH.triples[:-1]},
        {"triples": GRAPH.triples[::-1]},
        {"item_ids": {0: "f1", 3: "f3"}},
        {"item_entities": (3, 0)},
        {"plain": ("actor",)},
        {"years": {3: 2010, 0: 1995}},
        {"weights": {0: 2.0}},
    ],
    ids=str,
)
def test_all_that_can_be_asked_of_a_graph_is_in_its_digest(change: dict[str, object]) -> None:
    same = _graph(triples=list(GRAPH.triples), item_ids={0: "f1", 3: "f2"})
    assert _graph().digest == same.digest
    assert _graph(**change).digest != same.digest
    about_items = bool({"item_ids", "item_entities"} & set(change))
    assert (_graph(**change).items_digest != same.items_digest) is about_items
