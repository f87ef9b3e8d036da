"""Public corpora as they lie in their repositories: small copies, and the real files if there."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from recjury.corpora import open_corpus
from recjury.corpora.ievalm import public_folder
from recjury.errors import UserError

ENTITIES = {"Heat (1995)": 0, "crime": 1, "Ali (2001)": 2, "Eve (1962)": 3, "Michael Mann": 4}
INFOS = {
    "101": {
        "name": "Heat (1995)",
        "genre": ["crime", "crime"],
        "star": ["Al Pacino"],
        "plot": "A.",
    },
    "102": {"name": "Ali (2001)", "director": ["Michael Mann"]},
    "103": {"name": "Heat (1995)", "genre": ["drama"]},
}
RECORD = {
    "dialog_id": "7",
    "turn_id": 3,
    "context": ["Like Heat (1995), never worse", "", "Yes"],
    "entity": ["Heat (1995)", "Eve (1962)"],
    "rec": ["Ali (2001)", "Heat (1995)", "crime"],
    "resp": "Ali (2001)",
}


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), "utf-8")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of `redial`, and of `opendialkg` with other records."""
    monkeypatch.setenv("RECJURY_DATA", str(tmp_path))
    for name in ("redial", "opendialkg"):
        folder = tmp_path / "ievalm" / name
        folder.mkdir(parents=True)
        write(folder / "entity2id.json", ENTITIES)
        write(folder / "item_ids.json", [0, 2, 3])
        write(folder / "id2info.json", INFOS)
        said = [{"text": "@101 and @101"}, {"text": "@999"}]
        write(folder / "valid_data.jsonl", {"conversationId": "1", "messages": said})
        others = [
            {**RECORD, "turn_id": 4, "rec": ["crime"]},
            {**RECORD, "turn_id": 5, "context": [""], "rec": ["Ali (2001)"]},
        ]
        text = "".join(f"{json.dumps(row)}\n" for row in (RECORD, *others))
        (folder / "test_data_processed.jsonl").write_text(text, "utf-8")
        trained = [{**RECORD, "dialog_id": "8"}, {**RECORD, "dialog_id": "9", "turn_id": 1}]
        text = "".join(f"{json.dumps(row)}\n" for row in trained)
        (folder / "train_data_processed.jsonl").write_text(text, "utf-8")
        write(folder / "test_data_id.json", ["9_2"])
    return tmp_path


def test_redial_as_ievalm_prepared_it(data: Path) -> None:
    corpus = open_corpus("redial")
    heat = corpus.catalogue.items["0"]
    assert (heat.name, heat.year, heat.description, heat.popularity) == ("Heat", 1995, "A.", 1)
    assert heat.attributes == {"genre": ("crime",), "actor": ("Al Pacino",)}
    assert corpus.catalogue.items["2"].popularity == 0
    (scenario,) = corpus.scenarios
    assert (scenario.id, scenario.domain) == ("7_3", "film")
    assert [turn.speaker for turn in scenario.history] == ["user", "system", "user"]
    assert [item.id for item in scenario.history[0].items] == ["0"]  # and not Eve in "never"
    assert [target.id for target in scenario.targets] == ["2", "0"]
    assert [target.id for target in scenario.named_in_history] == ["0"]
    assert scenario.reference == "Ali (2001)"
    assert [reason.partition(":")[0] for reason in corpus.skipped] == ["7_4", "7_5"]


def test_opendialkg_has_books_and_films(data: Path) -> None:
    path = data / "ievalm" / "opendialkg" / "id2info.json"
    write(path, {**INFOS, "104": {"name": "Eve (1962)", "writer": ["A. B."], "year": "1963"}})
    corpus = open_corpus("opendialkg", split="train")
    assert corpus.catalogue.items["3"].domain == "book"
    assert corpus.catalogue.items["0"].domain == "film"
    assert corpus.catalogue.items["0"].popularity == 1  # the dialogue 9 is tested
    assert corpus.scenarios[0].domain == "film"
    assert corpus.domain.an_item == "a film or book"


def test_a_split_that_is_not_there(data: Path) -> None:
    corpus = open_corpus("redial", split="valid")
    assert corpus.catalogue
    assert corpus.skipped == ("has no split 'valid': there are test, train",)


def test_a_bad_line_has_file_and_line(data: Path) -> None:
    path = data / "ievalm" / "redial" / "test_data_processed.jsonl"
    path.write_text(f"{json.dumps(RECORD)}\n{{", "utf-8")
    with pytest.raises(UserError, match=r"test_data_processed\.jsonl:2: it is no JSON"):
        open_corpus("redial")


def test_inspired_has_only_films_that_texts_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECJURY_DATA", str(tmp_path))
    folder = tmp_path / "inspired"
    folder.mkdir()
    head = "dialog_id\tspeaker\ttext\tmovies"
    rows = [
        "a.pkl\tSEEKER\tI saw QUOTATION_MARKUpQUOTATION_MARK\tUp (2009)",
        "a.pkl\tRECOMMENDER\tThat is mine, too.\tMine (2016)",
        "a.pkl\tRECOMMENDER\tTry Ratatouille (2007)!\tRatatouille (2007);Mine (2016)",
        "b.pkl\tSEEKER\tHello\t",
    ]
    for file in ("dev.tsv", "test.tsv"):
        (folder / file).write_text("\n".join((head, *rows)), "utf-8")
    corpus = open_corpus("inspired")
    (scenario,) = corpus.scenarios
    assert [target.name for target in scenario.targets] == ["Ratatouille (2007)"]
    assert scenario.history[0].text == 'I saw "Up"'
    assert corpus.catalogue.items["Up (2009)"].popularity == 1
    assert corpus.skipped[0].startswith("b:")


def test_where_the_data_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECJURY_DATA", raising=False)
    with pytest.raises(UserError, match="RECJURY_DATA is not set"):
        open_corpus("redial")
    monkeypatch.setenv("RECJURY_DATA", str(tmp_path))
    with pytest.raises(UserError, match=r"RECJURY_DATA is .*redial is not there"):
        public_folder("redial")
    (tmp_path / "redial").mkdir()
    assert public_folder("redial") == tmp_path / "redial"


@pytest.mark.skipif("RECJURY_DATA" not in os.environ, reason="RECJURY_DATA is not set")
@pytest.mark.parametrize(
    ("name", "items", "scenarios", "named"),
    [
        ("redial", 6576, 3341, 417),
        ("opendialkg", 2965, 1187, 423),
        ("inspired", 563, 88, 0),
    ],
)
def test_the_real_files(name: str, items: int, scenarios: int, named: int) -> None:
    corpus = open_corpus(name)
    assert len(corpus.catalogue) == items
    assert len(corpus.scenarios) == scenarios
    assert len({scenario.id for scenario in corpus.scenarios}) == scenarios
    assert sum(bool(scenario.named_in_history) for scenario in corpus.scenarios) == named
    assert all(scenario.reference for scenario in corpus.scenarios)
