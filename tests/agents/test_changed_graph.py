"""A system that reads the graph is another one when the graph is another one."""

from collections.abc import Callable
from copy import copy
from pathlib import Path

import pytest

from recjury.agents import SystemContext, load_recommender
from recjury.corpora import Corpus, open_corpus
from recjury.knowledge import KnowledgeGraph
from recjury.records import JSON
from tests.agents.tiny import write_barcor, write_kbrd, write_unicrs

GRAPH = open_corpus("sample").graph


def changed(*, items: bool = False) -> KnowledgeGraph:
    """The sample's graph without its last fact, or with two items in each other's place."""
    first, second, *rest = GRAPH.item_entities
    return KnowledgeGraph(
        entities=GRAPH.entities,
        relations=GRAPH.relations,
        triples=GRAPH.triples if items else GRAPH.triples[:-1],
        item_ids=GRAPH.item_ids,
        item_entities=(second, first, *rest) if items else GRAPH.item_entities,
        plain=("genre", "decade"),
        years=GRAPH._years,
        weights=GRAPH._weights,
    )


class Around:
    """The sample with another graph, and the same catalogue."""

    def __init__(self, graph: KnowledgeGraph):
        self._corpus, self.graph = copy(open_corpus("sample")), graph

    def __getattr__(self, name: str) -> object:
        return getattr(self._corpus, name)


def settings(kind: str, folder: Path, graph: KnowledgeGraph | None = None) -> JSON:
    """The settings of a system that is loaded in the midst of `graph`."""
    corpus: Corpus = open_corpus("sample") if graph is None else Around(graph)  # type: ignore[assignment]
    options = {} if kind == "retrieval" else {"checkpoint": str(folder)}
    return dict(load_recommender(kind, kind, options, SystemContext(corpus)).settings)


WRITE: dict[str, Callable[..., object]] = {
    "kbrd": write_kbrd,
    "barcor": write_barcor,
    "unicrs": write_unicrs,
}


@pytest.mark.parametrize("fidelity", ["corrected", "ievalm"])
@pytest.mark.parametrize("kind", WRITE)
def test_another_graph_is_another_system(kind: str, fidelity: str, tmp_path: Path) -> None:
    WRITE[kind](tmp_path, fidelity=fidelity)
    as_it_is = settings(kind, tmp_path)
    assert settings(kind, tmp_path) == as_it_is
    assert settings(kind, tmp_path, changed(items=True)) != as_it_is
    by_words_alone = kind == "barcor" and fidelity == "ievalm"
    assert (settings(kind, tmp_path, changed()) == as_it_is) is by_words_alone


def test_what_does_not_read_the_graph_stays_the_same(tmp_path: Path) -> None:
    assert settings("retrieval", tmp_path, changed()) == settings("retrieval", tmp_path)
