"""A corpus of one's own: what a folder may hold, and what is said of mistakes in it."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from recjury.corpora import Corpus, Domain, draw_corpus, known_domain, open_corpus
from recjury.errors import UserError
from recjury.records import digest

PHONES = [
    {"id": "p1", "title": "Alba One", "brand": "Alba", "price": "cheap", "5G": True, "weight": 180},
    {"id": "p2", "title": "Alba Two", "brand": "Alba", "price": "dear", "5G": False, "colours": []},
    {"id": "p3", "title": "Bolt", "brand": ["Bolt", "Zig"], "price": "cheap", "year": 2021},
]
TALK = {
    "id": "d1",
    "turns": [
        {"role": "user", "text": "A phone, please."},
        {"role": "system", "text": "Alba One?", "items": ["p1"]},
        {"role": "user", "text": "Known."},
        {"role": "assistant", "content": "Bolt.", "items": ["Bolt (2021)", "p1"]},
    ],
}
WORDS = "item: phone\nitems: phones\nverb: buy\ndone: bought\nattributes: [brand, price]\n"


def lines(*rows: Any) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def shop(path: Path, files: dict[str, str] | None = None) -> Path:
    folder = path / "shop"
    folder.mkdir()
    standard = {
        "domain.yaml": WORDS,
        "items.jsonl": lines(*PHONES),
        "dialogues.jsonl": lines(TALK),
    }
    for name, text in {**standard, **(files or {})}.items():
        if text:
            (folder / name).write_text(text, "utf-8")
    return folder


def opened(path: Path, files: dict[str, str] | None = None) -> Corpus:
    return open_corpus(str(shop(path, files)))


def refused(path: Path, files: dict[str, str]) -> str:
    with pytest.raises(UserError) as error:
        opened(path, files)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_folder_is_a_corpus(tmp_path: Path) -> None:
    corpus = opened(tmp_path)
    assert corpus.name == "shop"
    assert corpus.domain.an_item == "a phone"
    (scenario,) = corpus.scenarios
    assert (scenario.corpus, scenario.domain, len(scenario.history)) == ("shop", "phone", 1)
    assert [target.id for target in scenario.targets] == ["p1"]


def test_unknown_columns_are_attributes(tmp_path: Path) -> None:
    items = opened(tmp_path).catalogue.items
    assert items["p1"].attributes == {
        "brand": ("Alba",),
        "price": ("cheap",),
        "5G": ("5G",),
        "weight": ("180",),
    }
    assert items["p2"].attributes.keys() == {"brand", "price"}
    assert items["p3"].attributes["brand"] == ("Bolt", "Zig")
    assert items["p3"].ref.name == "Bolt (2021)"


def test_a_long_text_is_a_description(tmp_path: Path) -> None:
    features = "A phone with a screen that folds twice. " * 4
    row = {**PHONES[0], "plot": "It rings.", "features": features}
    files = {"items.jsonl": lines(row), "dialogues.jsonl": ""}
    (item,) = opened(tmp_path, files).catalogue
    assert item.description == f"It rings. {features.strip()}"
    assert "features" not in item.attributes


def test_titles_and_plots_of_csv_are_whole_and_texts_keep_their_order(tmp_path: Path) -> None:
    long = [f"{word} " * 60 for word in ("one", "two", "three", "four")]
    table = f"id,title,plot,a,b,c,d\n1,Stop; Go,A thief; a cop,{','.join(long)}\n"
    files = {"items.jsonl": "", "items.csv": table, "domain.yaml": "domain: product\n"}
    (item,) = opened(tmp_path, files | {"dialogues.jsonl": ""}).catalogue
    assert item.name == "Stop; Go"
    assert item.description == " ".join(["A thief; a cop", *(each.strip() for each in long)])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("items.csv", "\ufeffid,title,brands,price\r\np1,Alba One,Alba|Zig,cheap\r\np2,Bolt,,\r\n"),
        ("items.csv", 'id;title;brand;price\np1;Alba One;Alba|Zig;"cheap"\np2;Bolt;;\n'),
        ("items.tsv", "id\ttitle\tbrand\tprice\np1\tAlba One\tAlba; Zig\tcheap\np2\tBolt\n"),
        ("items.jsonl", lines({"id": 1, "title": "Alba One", "brands": ["Alba", "Zig"]}, "")[:-3]),
    ],
)
def test_tables_are_read_as_they_are_written(tmp_path: Path, name: str, text: str) -> None:
    files = {"items.jsonl": "", "dialogues.jsonl": "", name: text}
    first = next(iter(opened(tmp_path, files).catalogue))
    assert first.name == "Alba One"
    assert first.attributes["brand"] == ("Alba", "Zig")


def test_parquet_is_read_as_json_lines_are(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [
        {
            "id": 1,
            "title": "Alba",
            "year": 2020,
            "brands": ["Alba", "Zig"],
            "5G": True,
            "rate": 1.5,
        },
        {"id": 2, "title": "Bolt", "year": None, "brands": [], "5G": None, "rate": math.nan},
    ]
    folder = shop(tmp_path, {"items.jsonl": "", "dialogues.jsonl": ""})
    parquet.write_table(pa.Table.from_pylist(rows), folder / "items.parquet")
    alba, bolt = open_corpus(str(folder)).catalogue
    assert (alba.id, alba.ref.name, bolt.ref.name) == ("1", "Alba (2020)", "Bolt")
    assert alba.attributes == {"brand": ("Alba", "Zig"), "5G": ("5G",), "rate": ("1.5",)}
    assert bolt.attributes == {}
    drawn = draw_corpus(str(folder / "items.parquet"), 0)
    assert drawn.catalogue.digest == open_corpus(str(folder)).catalogue.digest


def test_parquet_says_what_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"items.jsonl": "", "items.parquet": "no Parquet"}
    assert "items.parquet: cannot be read as Parquet" in refused(tmp_path, files)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"items\.parquet: .*recjury\[frames\]"):
        open_corpus(str(tmp_path / "shop"))


def test_items_of_one_name_are_told_apart_by_id(tmp_path: Path) -> None:
    twins = [{"id": id_, "title": "Sofa", "popularity": n} for n, id_ in enumerate(("a", "b"))]
    catalogue = opened(tmp_path, {"items.jsonl": lines(*twins), "dialogues.jsonl": ""}).catalogue
    assert [item.ref.name for item in catalogue] == ["Sofa [a]", "Sofa [b]"]
    assert [catalogue.resolve(name).id for name in ("Sofa", "sofa [A]", "Sofa [b]", "a")] == [
        "b",
        "a",
        "b",
        "a",
    ]
    assert [ref.id for ref in catalogue.link("A Divan, or the Sofa [a]?")] == ["a"]


def test_the_splits_of_a_corpus(tmp_path: Path) -> None:
    train = {**TALK, "id": "d2", "split": "train"}
    folder = shop(tmp_path, {"dialogues.jsonl": lines(TALK, train)})
    assert [s.id for s in open_corpus(str(folder), split="train").scenarios] == ["d2_1"]
    none = open_corpus(str(folder), split="valid")
    assert not none.scenarios
    assert "test, train" in none.skipped[0]


def test_targets_and_wishes_may_be_given(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "turns": TALK["turns"], "targets": ["Alba Two"]},
        {"id": "b", "turns": [], "wishes": ["cheap"]},
    ]
    one, two = opened(tmp_path, {"dialogues.jsonl": lines(*rows)}).scenarios
    assert [target.id for target in one.targets] == ["p2"]
    assert len(one.history) == 4
    assert (two.history, two.targets, two.wishes) == ((), (), ("cheap",))


def test_without_lists_the_texts_are_searched(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "text": "Like the Bolt?"},
        {"role": "system", "text": "The Bolt, or rather the Alba Two."},
    ]
    (scenario,) = opened(
        tmp_path, {"dialogues.jsonl": lines({"id": "d", "turns": turns})}
    ).scenarios
    assert [target.id for target in scenario.targets] == ["p2"]
    assert not scenario.named_in_history


def test_targets_that_the_history_names(tmp_path: Path) -> None:
    row = {"id": "d", "turns": TALK["turns"], "targets": ["p1", "p2"]}
    (scenario,) = opened(tmp_path, {"dialogues.jsonl": lines(row)}).scenarios
    assert [target.id for target in scenario.named_in_history] == ["p1"]


def test_a_dialogue_that_gives_no_scenario_is_named(tmp_path: Path) -> None:
    dull = {"id": "d2", "turns": [{"role": "user", "text": "Hi"}]}
    corpus = opened(tmp_path, {"dialogues.jsonl": lines(TALK, dull)})
    assert len(corpus.scenarios) == 1
    assert corpus.skipped[0].startswith("d2:")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"items.jsonl": ""}, ["no items.jsonl"]),
        ({"items.jsonl": "\n"}, ["items.jsonl", "no items"]),
        ({"items.csv": "id,title\n1,A\n"}, ["items.jsonl and items.csv"]),
        ({"items.jsonl": lines(PHONES[0], PHONES[0])}, ["items.jsonl:2", "'p1'", "items.jsonl:1"]),
        ({"items.jsonl": lines(*PHONES) + "{"}, ["items.jsonl:4", "no JSON"]),
        ({"items.jsonl": lines({"sku": "1", "title": "X"})}, ["entry 1", "`id` is missing", "sku"]),
        (
            {"items.jsonl": lines({"id": "1", "Title": "X"})},
            ["entry 1", "`title` is missing", "Title"],
        ),
        (
            {"items.jsonl": lines({"id": "1", "title": "X", "year": "new"})},
            ["entry 1", "`year`", "new"],
        ),
        ({"items.jsonl": lines({"id": "1", "title": "X", "a": {"b": 1}})}, ["entry 1", "`a`"]),
        ({"items.jsonl": "", "items.csv": "id,title\n1,A,B\n"}, ["items.csv", "line 2", "3 cells"]),
        ({"items.jsonl": "", "items.csv": "id,id\n"}, ["items.csv", "line 1", "'id'"]),
        ({"domain.yaml": ""}, ["no domain.yaml", "domain: product"]),
        ({"domain.yaml": "domain: films\n"}, ["domain.yaml:1", "did you mean film"]),
        ({"domain.yaml": "item: phone\n"}, ["domain.yaml:1", "`items` is missing"]),
        ({"domain.yaml": WORDS + "verbs: buy\n"}, ["domain.yaml:6", "did you mean verb"]),
        ({"domain.yaml": "domain: book\nattributes: {genre: is it}\n"}, ["domain.yaml:2", "value"]),
        ({"domain.yaml": "domain: product\nattributes: [brend]\n"}, ["'brend'", "mean brand"]),
        (
            {"items.jsonl": lines({"id": "1", "title": "X", "year": float("nan")})},
            ["entry 1", "`year`"],
        ),
        ({"dialogues.jsonl": "\n"}, ["no dialogues"]),
        ({"dialogues.jsonl": lines(TALK, TALK)}, ["dialogues.jsonl:2", "'d1'", ":1"]),
        ({"dialogues.jsonl": lines({"turns": []})}, ["entry 1", "`id` is missing"]),
        ({"dialogues.jsonl": lines({"id": "d", "turns": "hi"})}, ["entry 1", "`turns`"]),
        ({"dialogues.jsonl": lines({"id": "d", "turns": [{"text": "x"}]})}, ["entry 1", "turn 1"]),
        ({"dialogues.jsonl": lines({**TALK, "targets": ["p9"]})}, ["entry 1", "no phone 'p9'"]),
        ({"dialogues.jsonl": lines({**TALK, "targets": "p1"})}, ["entry 1", "targets", "list"]),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, files: dict[str, str], words: list[str]) -> None:
    said = refused(tmp_path, files)
    for word in words:
        assert word in said


def test_a_folder_without_dialogues_has_a_catalogue(tmp_path: Path) -> None:
    corpus = opened(tmp_path, {"dialogues.jsonl": ""})
    assert len(corpus.catalogue) == 3
    assert "draw" in corpus.skipped[0]


def test_a_plural_is_the_attribute_of_the_domain(tmp_path: Path) -> None:
    row = {"id": "1", "title": "Heat", "genres": ["crime"], "writers": ["Mann"], "languages": "en"}
    files = {"items.jsonl": lines(row), "domain.yaml": "domain: film", "dialogues.jsonl": ""}
    (film,) = opened(tmp_path, files).catalogue
    assert film.attributes == {"genre": ("crime",), "writer": ("Mann",), "language": ("en",)}


def test_a_file_of_items_in_another_encoding_is_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_bytes("id;title\n1;Stühle\n".encode("cp1252"))
    name = str(tmp_path / "products.csv")
    with pytest.raises(UserError, match=r"products\.csv.*domain: product"):
        open_corpus(name)
    (tmp_path / "domain.yaml").write_text("domain: product\n", "utf-8")
    with pytest.raises(UserError, match=r"products\.csv.*encoding: cp1252"):
        open_corpus(name)
    (tmp_path / "domain.yaml").write_text("domain: product\nencoding: cp1252\n", "utf-8")
    assert open_corpus(name).catalogue.items["1"].name == "Stühle"
    assert f"catalogue: {name}," in open_corpus(name).skipped[0]
    assert digest(open_corpus(name).domain) == digest(known_domain("product"))


def test_a_relative_folder_is_looked_for_beside_the_campaign(tmp_path: Path) -> None:
    shop(tmp_path)
    assert open_corpus("shop", folder=str(tmp_path)).name == "shop"


def test_a_domain_with_other_words(tmp_path: Path) -> None:
    domain = opened(tmp_path, {"domain.yaml": "domain: product\nitem: toy\nitems: toys\n"}).domain
    assert (domain.item, domain.verb) == ("toy", "buy")
    assert domain.expert == known_domain("product").expert


def test_clauses_of_a_domain() -> None:
    domain = Domain(item="egg", items="eggs", attributes={"hen": "{value} laid it"})
    assert domain.an_item == "an egg"
    assert domain.says("hen", "Berta") == "Berta laid it"
    assert domain.says("size", "XL") == "its size is XL"


def own_corpus() -> Corpus:
    return open_corpus("sample-books")._replace(name="mine")


def broken_corpus() -> Corpus:
    raise KeyError("shelf")


def test_a_corpus_made_by_ones_own_function() -> None:
    assert open_corpus("tests.corpora.test_folder:own_corpus").name == "mine"
    with pytest.raises(UserError, match=r"broken_corpus raised KeyError: 'shelf'"):
        open_corpus("tests.corpora.test_folder:broken_corpus")
    with pytest.raises(UserError, match="returns Corpus"):
        open_corpus("tests.corpora.test_folder:lines")
