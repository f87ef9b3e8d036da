"""Exports read back equal, whatever the conversations hold."""

import asyncio
import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pyarrow.parquet as pq
import pytest

from recjury.errors import ConfigError, StoreError
from recjury.records import ConversationLog, Factor
from recjury.results import export, frame, summarise
from recjury.results.file_formats import Cell, Format
from recjury.results.tables import tables
from recjury.store import Store
from tests.report.filling import CAMPAIGN, TARGET, Played, evaluator, fill
from tests.store import values
from tests.store.values import NASTY

TABLES = ("conversations", "evaluations", "turns", "ratings", "evidence", "statements", "calls")


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with one finished conversation full of hostile text, and one that failed."""
    whole = Played("a", "1", [*[3.0] * 11, None], said=NASTY, hit_at=2, seconds=(0.5, None))
    fill(store, [whole, Played("a", "2", failure=NASTY)])
    asyncio.run(_record(store))
    return store


async def _record(store: Store) -> None:
    async with store.recorder() as recorder:
        unit = store.conversations()[0].id
        await recorder.record(values.call(1, reply=NASTY)._replace(unit=unit))


def _read(path: Path, store: Store) -> list[dict[str, Cell]]:
    match path.suffix:
        case ".parquet":
            rows: list[dict[str, Cell]] = pq.read_table(path).to_pylist()
        case ".jsonl":
            rows = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        case _:
            rows = _read_csv(path, store)
    return rows


def _read_csv(path: Path, store: Store) -> list[dict[str, Cell]]:
    """CSV with the types of its table; the reader cannot tell "" from a missing text."""
    table = next(table for table in tables(store) if table.name == path.stem)
    kinds = {field.name: field.kind for field in table.fields}
    read: dict[str, Callable[[str], Cell]] = {
        "text": str,
        "integer": int,
        "number": float,
        "truth": lambda cell: cell == "true",
    }
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {
                name: read[kinds[name]](cell) if cell or kinds[name] == "text" else None
                for name, cell in row.items()
            }
            for row in csv.DictReader(file)
        ]


@pytest.mark.parametrize("ending", get_args(Format))
def test_an_export_reads_back_equal(filled: Store, tmp_path: Path, ending: Format) -> None:
    *paths, whole = export(filled, tmp_path / "out", ending, CAMPAIGN)
    names = [f"{name}.{ending}" for name in TABLES]
    names[0] = "conversation_scores.jsonl" if ending == "jsonl" else names[0]
    assert [path.name for path in paths] == names
    assert whole.name == "conversations.jsonl"
    first, second = _read(paths[0], filled)
    evaluations, turns, ratings, evidence, statements, calls = (
        _read(path, filled) for path in paths[1:]
    )
    assert evidence == []

    assert (first["core.coherence"], first["core.groundness"]) == (3.0, None)
    assert first["core.coherence.status"] == "scored"
    assert first["core.groundness.status"] == "not_measured"
    assert (first["core.overall"], first["outcome.persuasiveness"]) == (60.0, 1.0)
    assert (first["outcome.recall@1"], first["outcome.recall@5"]) == (0.0, 1.0)
    assert (first["failure"] or None, second["failure"]) == (None, NASTY)
    assert second["core.overall"] is None

    assert [each["evaluator"] for each in evaluations] == ["outcome", "core"]
    assert json.loads(str(evaluations[1]["stages"])) == ["debate", "rate"]
    assert NASTY in [turn["text"] for turn in turns]
    items = [json.loads(str(turn["items"])) for turn in turns]
    assert TARGET.model_dump() in items[3]
    own = [each for each in ratings if each["evaluator"] == "core"]
    assert len({each["metric"] for each in own}) == len(Factor) + 1
    assert {"core.coherence", "core.overall"} <= {each["metric"] for each in own}
    assert {own[0]["conversation"], own[0]["evaluation"]} == {
        first["conversation"],
        evaluations[1]["evaluation"],
    }
    assert [said["score"] for said in statements] == [60.0] * 4
    (call,) = calls
    assert (call["reply"], call["cost"], call["attempts"]) == (NASTY, 0.25, 2)
    assert call["conversation"] == first["conversation"]
    assert "the rubric" not in str(call)


def test_conversations_are_exported_without_loss(filled: Store, tmp_path: Path) -> None:
    *_, whole = export(filled, tmp_path / "out", "csv", CAMPAIGN)
    (line,) = map(json.loads, whole.read_bytes().split(b"\n")[:-1])
    stored = filled.conversations(CAMPAIGN)[0]
    log = filled.log(stored.id)
    assert log is not None
    assert ConversationLog.model_validate(line["log"]) == log
    assert (line["form"], line["version"], line["digest"]) == ("recjury-conversation", 1, log.id)
    assert line["conversation"] == stored.id
    assert line["settings"] == stored.settings
    assert line["seconds"] == [0.5, None]


def test_frames_hold_what_an_export_holds(filled: Store, tmp_path: Path) -> None:
    paths = export(filled, tmp_path / "out", "parquet", CAMPAIGN)
    for name, path in zip(TABLES, paths, strict=False):
        assert frame(filled, name, CAMPAIGN).to_pylist() == pq.read_table(path).to_pylist()
    with pytest.raises(StoreError, match="no table is called rating; did you mean 'ratings'"):
        frame(filled, "rating")


def test_without_the_frames_extra_one_line_says_what_to_install(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recjury.results.file_formats.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"a frame needs pyarrow: run pip install 'recjury\[fra"):
        frame(filled, "ratings")
    with pytest.raises(ConfigError, match="--format parquet needs pyarrow"):
        export(filled, tmp_path / "out", "parquet")
    assert not (tmp_path / "out").exists()
    assert export(filled, tmp_path / "out", "csv")


def test_frames_hold_the_means_that_are_shown(filled: Store) -> None:
    row = summarise(filled, CAMPAIGN).systems["a"]
    scores = frame(filled, "conversations", CAMPAIGN)
    for measure in ("core.coherence", "outcome.recall@5", "core.overall"):
        given = [value for value in scores[measure].to_pylist() if value is not None]
        assert sum(given) / len(given) == row.summary(measure).mean


def test_frames_without_rows_have_their_columns(store: Store) -> None:
    for name in TABLES:
        assert frame(store, name).num_rows == 0
        assert "conversation" in frame(store, name).column_names


def test_older_versions_have_columns_of_their_own(store: Store) -> None:
    old, new = evaluator("core"), evaluator("core", version=1)
    fill(store, [Played("a", "1")], evaluators=[old])
    fill(store, [Played("a", "1", [1.0] * 12)], evaluators=[new])
    (row,) = frame(store, "conversations").to_pylist()
    assert (row["core.novelty"], row[f"core@{old.id[:4]}.novelty"]) == (1.0, 3.0)


def test_csv_tells_an_empty_text_from_a_missing_one(filled: Store, tmp_path: Path) -> None:
    paths = export(filled, tmp_path / "out", "csv")
    lines = (tmp_path / "out" / "ratings.csv").read_text(encoding="utf-8").splitlines()
    assert paths[3].name == "ratings.csv"
    header = lines[0].replace('"', "").split(",")
    unscored = next(line for line in lines if "groundness" in line).split(",")
    assert unscored[header.index("score")] == ""
    assert unscored[header.index("rationale")] == '""'


def test_a_lone_surrogate_in_a_reply_is_exported_as_an_escape(store: Store, tmp_path: Path) -> None:
    async def record() -> None:
        async with store.recorder() as recorder:
            await recorder.record(values.call(1, reply="half \ud83c"))

    asyncio.run(record())
    assert store.call(values.identity(1)).reply.text == "half \ud83c"
    for ending in get_args(Format):
        *_, calls, _ = export(store, tmp_path / ending, ending)
        assert _read(calls, store)[0]["reply"] == "half \\ud83c"


def test_a_damaged_store_leaves_the_last_export_as_it_was(filled: Store, tmp_path: Path) -> None:
    paths = export(filled, tmp_path / "out", "jsonl")
    before = [path.read_bytes() for path in paths]
    values.alter(filled, "UPDATE statement SET score = 71 WHERE position = 2")
    with pytest.raises(StoreError, match="was changed after it was written"):
        export(filled, tmp_path / "out", "jsonl")
    assert [path.read_bytes() for path in paths] == before
    assert sorted((tmp_path / "out").iterdir()) == sorted(paths)


def test_what_cannot_be_exported_is_said_in_one_line(filled: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot export to"):
        export(filled, tmp_path / "file" / "out", "csv")
    with pytest.raises(ConfigError, match="file is not a folder: name another"):
        export(filled, tmp_path / "file", "csv")
    with pytest.raises(ConfigError, match="got xlsx"):
        export(filled, tmp_path / "out", "xlsx")  # type: ignore[arg-type]
    (tmp_path / "taken").mkdir()
    os.mkfifo(tmp_path / "taken" / "conversations.jsonl")
    with pytest.raises(ConfigError, match=r"conversations\.jsonl is not a regular file"):
        export(filled, tmp_path / "taken", "csv")
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["conversations.jsonl"]
