"""A folder whose items are no films: domain.yaml, items.jsonl and dialogues.jsonl."""

from pathlib import Path

import orjson
import pytest

from recjury.corpora import known_corpus, open_corpus
from recjury.errors import UserError
from recjury.records import ItemRef

DOMAIN = """
item: restaurant
items: restaurants
verb: try
done: tried
attributes:
  cuisine: {kind: category}
  price: {word: price range, field: price, kind: category}
  chef: {kind: maker, by: run by, did: runs}
dimensions: [cuisine, price]
"""
ITEMS: list[dict[str, object]] = [
    {"id": "a", "title": "Sol", "cuisines": ["Thai", "Lao"], "price": "cheap", "popularity": 80},
    {"id": "b", "title": "Mar", "cuisines": ["Greek"], "chefs": ["Ann Lee"], "plot": "By the sea."},
    {"id": "c", "title": "Mar", "year": 2020},
]
TURNS: list[dict[str, object]] = [
    {"role": "user", "text": "Thai food?"},
    {"role": "system", "text": "Sol, or Mar.", "items": ["a", "b"]},
]
DIALOGUES: list[dict[str, object]] = [{"id": "d", "split": "test", "turns": TURNS}]


def write(
    folder: Path,
    items: list[dict[str, object]] = ITEMS,
    dialogues: list[dict[str, object]] = DIALOGUES,
    domain: str | None = DOMAIN,
) -> Path:
    for name, rows in (("items.jsonl", items), ("dialogues.jsonl", dialogues)):
        (folder / name).write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    if domain is not None:
        (folder / "domain.yaml").write_text(domain, "utf-8")
    return folder


def fault(folder: Path) -> str:
    """What is wrong with a folder's catalogue or dialogues, in one line without the path."""
    with pytest.raises(UserError) as error:
        open_corpus(folder).scenarios("test")
    assert "\n" not in str(error.value)
    return str(error.value).replace(str(folder), "FOLDER")


def test_items_have_the_attributes_that_the_domain_names(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path))
    catalogue = corpus.catalogue
    sol, mar, late = catalogue

    assert catalogue.domain.items == "restaurants"
    assert [item.name for item in catalogue] == ["Sol", "Mar", "Mar (2020)"]
    assert [each.of(sol) for each in catalogue.domain.attributes] == [
        ("Thai", "Lao"),
        ("cheap",),
        (),
    ]
    assert mar.plot == "By the sea."
    assert late.attributes == ()
    assert known_corpus(str(tmp_path)) is not None


def test_dialogues_name_items(tmp_path: Path) -> None:
    (scenario,) = open_corpus(write(tmp_path)).scenarios("test").scenarios

    assert scenario.targets == (ItemRef(id="a", name="Sol"), ItemRef(id="b", name="Mar"))


def test_the_graph_has_the_attributes_as_relations(tmp_path: Path) -> None:
    graph = open_corpus(write(tmp_path)).graph

    assert graph.relations == ("cuisine", "price", "chef")
    assert graph.facts(1) == (("cuisine", "Greek"), ("chef", "Ann Lee"))


def test_a_corpus_without_attribute_names_is_one_line(tmp_path: Path) -> None:
    write(tmp_path, domain=None)
    assert fault(tmp_path) == (
        "no domain.yaml in FOLDER: it says what the items are called and which attributes they have"
    )
    write(tmp_path, domain="item: x\nitems: xs\nverb: try\ndone: tried\n")
    assert fault(tmp_path).startswith("FOLDER/domain.yaml: names no attribute: ")
    write(tmp_path, domain="item: [")
    assert fault(tmp_path).startswith("FOLDER/domain.yaml: is not YAML: ")


def test_a_catalogue_without_attributes_is_one_line(tmp_path: Path) -> None:
    write(tmp_path, items=[{"id": "a", "title": "Sol"}, {"id": "b", "title": "Mar", "year": 2020}])

    assert fault(tmp_path) == (
        "FOLDER/items.jsonl: no restaurant has any attribute: give some of cuisines, price, chefs"
    )


def test_a_catalogue_of_films_without_attributes_is_one_line(tmp_path: Path) -> None:
    write(tmp_path, domain=None, dialogues=[])
    (tmp_path / "items.jsonl").unlink()
    (tmp_path / "films.jsonl").write_bytes(orjson.dumps({"id": "a", "title": "Heat"}))

    assert fault(tmp_path).startswith("FOLDER/films.jsonl: no film has any attribute: give some of")


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ({"cuisine": "Thai"}, "unknown key 'cuisine': domain.yaml names the fields cuisines, pr"),
        ({"cuisines": 3}, "cuisines"),
        ({"cuisines": [3]}, "cuisines"),
        ({"id": "a"}, "a second restaurant with the id 'a'"),
        ({"title": "Sol"}, "a second restaurant called 'Sol' (the first is in line 1)"),
    ],
)
def test_a_wrong_item_is_named(tmp_path: Path, item: dict[str, object], told: str) -> None:
    write(tmp_path, items=[*ITEMS, {"id": "z", "title": "Luz", **item}])

    assert fault(tmp_path).startswith(f"FOLDER/items.jsonl:4: {told}")


def test_a_dialogue_with_an_unknown_item_is_named(tmp_path: Path) -> None:
    turns = [TURNS[0], {"role": "system", "text": "Luz.", "items": ["z"]}]
    write(tmp_path, dialogues=[{"id": "d", "split": "test", "turns": turns}])

    assert fault(tmp_path) == (
        "FOLDER/dialogues.jsonl:1: turn 2 names the restaurant 'z', which items.jsonl does not have"
    )


def test_a_folder_has_films_or_items(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "films.jsonl").write_text("", "utf-8")
    assert fault(tmp_path) == "FOLDER has both films.jsonl and items.jsonl: leave one of them out"
    (tmp_path / "films.jsonl").unlink()
    (tmp_path / "items.jsonl").unlink()
    assert fault(tmp_path).startswith("no items.jsonl in FOLDER")
