"""Scenarios of a catalogue alone, and the graph of its items."""

from pathlib import Path

import pytest

from recjury.corpora import Catalogue, Fact, Item, KnowledgeGraph, draw_corpus, open_corpus
from recjury.corpora import shuffled as in_drawn_order
from recjury.errors import UserError


@pytest.mark.parametrize(("name", "draw"), [("sample", 60), ("sample-books", 30)])
def test_wishes_are_met_by_several_items_and_not_by_all(name: str, draw: int) -> None:
    corpus = draw_corpus(name, draw)
    assert len(corpus.scenarios) == draw
    for scenario in corpus.scenarios:
        assert 1 <= len(scenario.wishes) <= 3
        meeting = {item.id for item in corpus.catalogue.meeting(scenario.wishes)}
        assert 1 < len(meeting) < len(corpus.catalogue)
        assert {target.id for target in scenario.targets} <= meeting
        assert len(scenario.targets) == min(10, len(meeting))
        assert not scenario.history


def test_a_draw_is_the_same_everywhere_and_grows() -> None:
    few, many = draw_corpus("sample", 5), draw_corpus("sample", 50)
    assert few.scenarios == many.scenarios[:5]
    assert few.scenarios[0].id == "0-f087"
    assert draw_corpus("sample", 5, seed=1).scenarios != few.scenarios


def test_a_catalogue_that_cannot_give_as_many() -> None:
    with pytest.raises(UserError, match=r"50 scenarios .* of the 40 items of sample-books"):
        draw_corpus("sample-books", 50)


def test_a_folder_or_a_file_of_items_will_do(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "domain.yaml").write_text("domain: product\n")
    (folder / "wares.csv").write_text("id,title,type\n1,A,pen\n2,B,pen\n3,C,cap\n")
    corpus = draw_corpus(str(folder / "wares.csv"), 2)
    assert corpus.name == "shop"
    assert {scenario.wishes for scenario in corpus.scenarios} == {("type: pen",)}
    with pytest.raises(UserError, match="no items"):
        draw_corpus("shop", 2, folder=str(tmp_path))


def test_people_ask_only_for_the_attributes_that_a_domain_lists(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("id,title,type,hall\n1,A,pen,N\n2,B,pen,S\n3,C,cap,N\n")
    (tmp_path / "domain.yaml").write_text("{item: ware, items: wares, attributes: [type]}")
    corpus = draw_corpus(str(tmp_path), 2)
    assert {scenario.wishes for scenario in corpus.scenarios} == {("type: pen",)}
    assert corpus.catalogue.facts(corpus.catalogue.items["1"].ref) == "type: pen; hall: N"


def test_scenarios_in_an_order_by_seed() -> None:
    scenarios = open_corpus("sample").scenarios
    drawn = in_drawn_order(scenarios, 3)
    assert set(drawn) == set(scenarios)
    assert drawn != scenarios
    assert drawn == in_drawn_order(scenarios[::-1], 3)


GRAPH = KnowledgeGraph(
    [
        Fact("a", "director", "Clint Eastwood"),
        Fact("a", "actor", "Clint Eastwood"),
        Fact("b", "actor", "clint eastwood"),
        Fact("b", "genre", "Western"),
        Fact("a", "genre", "western"),
    ],
    ["a", "b", "c"],
)


def test_what_items_share_by_the_graph() -> None:
    assert GRAPH.items_with("actor", "CLINT EASTWOOD") == {"a", "b"}
    assert GRAPH.items_with("director", "Clint Eastwood") == {"a"}
    assert GRAPH.items_with(None, "western") == {"a", "b"}
    assert GRAPH.items_with("genre", "noir") == set()
    assert GRAPH.shared("a", "b") == [("actor", "Clint Eastwood"), ("genre", "Western")]
    assert GRAPH.values_of("c") == GRAPH.values_of("d") == []


def test_the_graph_of_a_catalogue() -> None:
    catalogue = Catalogue(
        [Item(id="x", name="X", attributes={"genre": ("drama",)}), Item(id="y", name="Y")]
    )
    assert catalogue.graph.values_of("x") == [("genre", "drama")]
    assert [node.key for node in catalogue.graph.graph] == ["x", "y", "drama"]
