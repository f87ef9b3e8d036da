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
from recjury.records import PERSUASIVENESS, Factor, Rating
from recjury.store import Store
from recjury.store.export import export
from recjury.store.exported_tables import TABLES
from recjury.store.file_formats import Cell, Format
from tests.store import values
from tests.store.values import NASTY


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one finished trial full of hostile text, one failed, and one untouched."""
    store = Store.open(f"sqlite:///{tmp_path}/runs.db")
    finished, failed, _ = values.begun(store, trials=3)
    asyncio.run(_fill(store, finished, failed))
    return store


async def _fill(store: Store, finished: str, failed: str) -> None:
    calls = (values.identity(1),)
    log = values.log(text=NASTY, calls=calls)
    async with store.recorder() as recorder:
        await recorder.record(values.call(1, reply=NASTY))
    persuasive = Rating(evaluator="rule", factor=PERSUASIVENESS, score=1, low=0, high=2)
    await store.save_log(finished, log, [persuasive])
    await store.save_ratings(finished, values.ratings(calls, rationale=NASTY))
    await store.save_debate(finished, *values.debate(log.id, calls))
    await store.save_failure(failed, "converse", NASTY)


def _read(path: Path) -> list[dict[str, Cell]]:
    match path.suffix:
        case ".parquet":
            rows: list[dict[str, Cell]] = pq.read_table(path).to_pylist()
        case ".jsonl":
            rows = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        case _:
            rows = _read_csv(path)
    return rows


def _read_csv(path: Path) -> list[dict[str, Cell]]:
    """CSV with the types of its table; the reader cannot tell "" from a missing text."""
    kinds = {f.name: f.kind for table in TABLES if table.name == path.stem for f in table.fields}
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
def test_an_export_reads_back_equal(store: Store, tmp_path: Path, ending: Format) -> None:
    with store:
        paths = export(store, tmp_path / "out", ending, values.campaign().id)
    assert [path.name for path in paths] == [f"{table.name}.{ending}" for table in TABLES]
    trials, turns, ratings, statements, calls = map(_read, paths)

    first, second, third = trials
    assert (first["coherence"], first["groundness"]) == (3.0, None)
    assert first["groundness_status"] == "unreadable"
    assert (first["overall"], first["agreed"], first["persuasiveness"]) == (70.0, True, 1.0)
    assert (first["recall_1"], first["recall_5"], first["hit_round"]) == (0.0, 1.0, 1)
    assert json.loads(str(second["failures"])) == {"converse": NASTY}
    assert third["overall"] is None

    assert [turn["text"] for turn in turns] == ["Hello", NASTY, "I like it ü"]
    assert json.loads(str(turns[1]["items"]))[0] == {"id": "1", "name": "Heat (1995)"}
    assert [rating["factor"] for rating in ratings] == [PERSUASIVENESS, *Factor]
    assert ratings[1]["rationale"] == NASTY
    assert [said["score"] for said in statements] == [70.0] * 4
    (call,) = calls
    assert (call["reply"], call["cost"], call["attempts"]) == (NASTY, 0.25, 2)
    assert "the rubric" not in str(call)


def test_csv_tells_an_empty_text_from_a_missing_one(store: Store, tmp_path: Path) -> None:
    with store:
        paths = export(store, tmp_path / "out", "csv")
    ratings = paths[2].read_text(encoding="utf-8").splitlines()
    header = ratings[0].replace('"', "").split(",")
    unscored = ratings[-1].split(",")
    assert unscored[header.index("score")] == ""
    assert unscored[header.index("rationale")] == '""'


def test_half_a_surrogate_pair_in_a_reply_is_exported_spelled_out(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        values.begun(store)

        async def record() -> None:
            async with store.recorder() as recorder:
                await recorder.record(values.call(1, reply="half \ud83c"))

        asyncio.run(record())
        assert store.call(values.identity(1)).reply.text == "half \ud83c"
        for ending in get_args(Format):
            paths = export(store, tmp_path / ending, ending)
            assert _read(paths[-1])[0]["reply"] == "half \\ud83c"


def test_a_damaged_store_leaves_the_last_export_as_it_was(store: Store, tmp_path: Path) -> None:
    with store:
        paths = export(store, tmp_path / "out", "jsonl")
        before = [path.read_bytes() for path in paths]
        values.alter(store.path, "UPDATE statement SET score = 71 WHERE position = 2")
        with pytest.raises(StoreError, match="not as it was written"):
            export(store, tmp_path / "out", "jsonl")
    assert [path.read_bytes() for path in paths] == before
    assert sorted((tmp_path / "out").iterdir()) == sorted(paths)


def test_what_cannot_be_exported_is_said_in_one_line(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with store:
        with pytest.raises(StoreError, match="cannot export to"):
            export(store, tmp_path / "file" / "out", "csv")
        with pytest.raises(ConfigError, match="file is no folder: name another"):
            export(store, tmp_path / "file", "csv")
        with pytest.raises(ConfigError, match="got xlsx"):
            export(store, tmp_path / "out", "xlsx")  # type: ignore[arg-type]
        (tmp_path / "taken").mkdir()
        os.mkfifo(tmp_path / "taken" / "turns.csv")
        with pytest.raises(ConfigError, match=r"turns\.csv is no regular file"):
            export(store, tmp_path / "taken", "csv")
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["turns.csv"]
