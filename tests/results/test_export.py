"""Files of a campaign: tables that pandas reads, and conversations that `judge` reads."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from recjury.corpora import read_recordings
from recjury.errors import UserError
from recjury.records import Completion, Message, Rating, Request, Unit
from recjury.results import Selection, calls, export, ratings_with_reasons, statements, turns
from recjury.results.export import TableFormat
from recjury.store import Store
from tests.results.filled import Scores, debate, fill, log_of

SCORES: Scores = {"overall": [50.0, 60.0], "novelty": [1.0, None]}
TEXT = 'He said: "Heat,\n1995"; \ud83d\ud83d, \u2028 and so on.'


def test_conversations_come_back_equal(store: Store, tmp_path: Path) -> None:
    """Case 28: two systems on one scenario are in one file."""
    log = log_of("s0", TEXT.replace("\ud83d", ""), items=2)
    fill(store, {name: {"overall": [50.0]} for name in ("one", "two")}, logs={"one": log})
    export(store, tmp_path / "out")
    read = read_recordings([tmp_path / "out" / "conversations.jsonl"])
    assert not read.skipped
    assert [(each.system, each.id) for each in read.recordings] == [("one", "s0"), ("two", "s0")]
    again = read.recordings[0].log()
    assert again.interaction == log.interaction
    assert again.scenario == log.scenario


READERS: dict[TableFormat, Callable[[Path], pd.DataFrame]] = {
    "csv": pd.read_csv,
    "jsonl": lambda path: pd.read_json(path, lines=True),
    "parquet": pd.read_parquet,
}


@pytest.mark.parametrize("form", READERS)
def test_tables_can_be_read(store: Store, tmp_path: Path, form: TableFormat) -> None:
    fill(store, {"one": SCORES}, logs={"one": log_of("s0", TEXT)})
    rows = export(store, tmp_path, form=form).data["rows"]
    tables = [name for name in rows if rows[name] and name != "conversations.jsonl"]
    frames = {name: READERS[form](tmp_path / name) for name in tables}
    assert {name: len(frame) for name, frame in frames.items()} == {
        name: rows[name] for name in frames
    }
    assert list(frames[f"turns.{form}"]["turn"]) == [1, 2, 1, 2]
    frame = frames[f"ratings.{form}"]
    assert list(frame["metric"]) == ["core.novelty", "core.overall"] * 2
    assert frame["score"].dropna().to_list() == [1, 50, 60]
    assert frame["turn"].isna().all()
    assert frames[f"trials.{form}"]["core.overall"].to_list() == [50, 60]
    lines = (tmp_path / "conversations.jsonl").read_text("utf-8").split("\n")
    assert json.loads(lines[0])["interaction"][1]["text"] == TEXT


def test_a_selection_is_exported(store: Store, tmp_path: Path) -> None:
    fill(store, {"one": SCORES, "two": SCORES})
    export(store, tmp_path, selection=Selection(systems=("two",), where=("core.overall<55",)))
    for name in ("ratings", "turns"):
        frame = pd.read_csv(tmp_path / f"{name}.csv")
        assert {*zip(frame["system"], frame["scenario"], strict=True)} == {("two", "s0")}
    assert len((tmp_path / "conversations.jsonl").read_text("utf-8").splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("\uff1dx", "'\uff1dx"),
        ("-5", "-5"),
        ("+3.1", "+3.1"),
        ("-", "-"),
        ("a=b", "a=b"),
    ],
)
def test_formulas_are_texts_in_spreadsheets(
    store: Store, tmp_path: Path, text: str, cell: str
) -> None:
    fill(store, {"one": SCORES}, logs={"one": log_of("s0", text)})
    export(store, tmp_path)
    assert pd.read_csv(tmp_path / "turns.csv", dtype=str)["text"][1] == cell
    export(store, tmp_path, form="jsonl")
    assert json.loads((tmp_path / "turns.jsonl").read_text("utf-8").splitlines()[1])["text"] == text


def test_turns_are_numbered_as_replay_shows_them(store: Store) -> None:
    fill(store, {"one": SCORES}, logs={"one": log_of("s0", items=2)})
    rows = turns(store, "films").to_dict("records")[:2]
    assert [(row["turn"], row["speaker"]) for row in rows] == [(1, "user"), (2, "system")]
    assert json.loads(rows[1]["items"]) == ["Film 0", "Film 1"]
    assert rows[1]["seconds"] == 0.5


def test_ratings_can_be_joined_with_turns_and_calls(store: Store) -> None:
    """A rating of a turn has what its judge wrote, the call behind it, and the turn's text."""
    fill(store, {"one": {"overall": [50.0]}})
    call = Completion("<rating>3</rating>", call="c1")
    request = Request((Message("user", ("Rate it.",)),), "judge")
    id_ = "1111aaaa-one-llm-s0-0"
    about = {"metric": "novelty", "rater": "main", "turn": 1, "score": 3, "rationale": "New."}
    rating = Rating.model_validate({**about, "calls": ("c1",)})
    asyncio.run(store.record([call], request, "main", Unit("films", id_, "")))
    asyncio.run(store.save_evaluation(id_, "rubric-core", 0, [rating], tries=0))
    rated = ratings_with_reasons(store, "films")
    asked = calls(store, "films").rename(columns={"id": "calls"})[["calls", "reply"]]
    joined = rated.merge(asked, on="calls")
    joined = joined.merge(turns(store, "films"), on=["conversation", "turn"])
    (row,) = joined.to_dict("records")
    assert (row["metric"], row["score"], row["rationale"]) == ("core.novelty", 3, "New.")
    assert (row["reply"], row["text"]) == ("<rating>3</rating>", "I am one.")


async def _debated(store: Store) -> None:
    id_ = "1111aaaa-one-llm-s0-0"
    await store.save_evaluation(id_, "rubric-core", 0, [debate(70, "Linguist")], tries=0)


def test_statements(store: Store) -> None:
    fill(store, {"one": SCORES})
    asyncio.run(_debated(store))
    rows = statements(store, "films").to_dict("records")
    assert [(row["role"], row["status"]) for row in rows] == [
        ("Linguist", "not applicable"),
        ("HCI Expert", "ok"),
    ]
    assert rows[1]["text"] == "I think so."


def test_a_folder_that_cannot_be_made(store: Store, tmp_path: Path) -> None:
    fill(store, {"one": SCORES})
    with pytest.raises(UserError, match="cannot write"):
        export(store, tmp_path / "missing" / "out")
