"""What was altered behind recjury's back is named, and never read as if it were right."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlmodel import SQLModel

from recjury.debate.stored_debate import Verification, verifications
from recjury.errors import StoreError
from recjury.records import Evidence, Rating, StageResult
from recjury.store import Measurement, Store
from recjury.store.calls import CALLS, CallValues
from recjury.store.column_types import Whole
from recjury.store.sealed import SealedTable
from tests.store import values

_KEYS = {"summary": "seal", "stage": "stage", "text": "id", "schema_version": "number"}


class Cell(NamedTuple):
    """One value in the file: how to find it, and what it is."""

    table: str
    column: str
    row: object
    value: object


LOG = values.log(calls=(values.identity(1),))
PLANNED = values.evaluation(log_id=LOG.id)
EVALUATION = PLANNED.identity
CONVERSATION = values.conversation().id


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one conversation, an evaluation of it, and the model calls behind them."""
    store = Store.open(f"sqlite:///{tmp_path}/runs.db")
    values.begun(store)
    asyncio.run(fill(store))
    return store


async def fill(store: Store) -> None:
    """An evaluation with all kinds of results."""
    calls = (values.identity(1), values.identity(3))
    long = "a judge's reply that is long enough to be compressed " * 40
    measured = Measurement(kind="noise", subject="x", measured_at=1.0, body={"replies": 1})
    store.save_measurement(measured)
    store.save_learned(values.CAMPAIGN, {"mock": {"limit": 3}})
    await store.save_failure(CONVERSATION, "converse", "it broke", LOG)
    async with store.recorder() as recorder:
        await recorder.record(values.call(1, reply=long))
        await recorder.record(values.call_of_several(2))
        await recorder.record(values.call_with_reasoning(3))
    await store.save_log(CONVERSATION, LOG, [0.5])
    where = Evidence(factor="relevance", label="act", turn=0, span_start=0, span_end=3)
    overall = Rating(evaluator="debate", factor="Overall", score=70, low=0, high=100)
    first, *more = values.ratings(calls)[-3:]
    mended = first.model_copy(update={"repaired": "a trailing comma"})
    stages = {
        "rate": StageResult((mended, *more)),
        "debate": StageResult((overall,), debate=values.repaired(values.debate(LOG.id, calls))),
        "relevance": StageResult(values.aspect_ratings(), evidence=(where,)),
        "note": StageResult(output={"said": ["whatever", 1], "call": values.identity(2)}),
    }
    for stage, result in stages.items():
        await store.save_stage(PLANNED, stage, result)


def _cells(path: Path) -> list[Cell]:
    """Every value of every table; a new table or column is among them without a word here."""
    with closing(sqlite3.connect(path)) as connection:
        cells = []
        for table in SQLModel.metadata.sorted_tables:
            key = _KEYS.get(table.name, "rowid")
            numbered = {each.name for each in table.primary_key if isinstance(each.type, Whole)}
            for row, *found in connection.execute(f"SELECT {key}, * FROM {table}"):
                for column, value in zip(table.c.keys(), found, strict=True):
                    if column not in numbered:
                        cells.append(Cell(table.name, column, row, value))
        return cells


def _other(cell: Cell) -> object:
    """A value that differs in one place."""
    match cell.value:
        case int() | float():
            return cell.value + (1000 if cell.column in {"id", "position", "particle"} else 1)
        case str():
            return cell.value[:-1] + chr(ord(cell.value[-1]) ^ 1) if cell.value else "x"
        case bytes():
            middle = len(cell.value) // 2
            flipped = cell.value[middle] ^ 1 if cell.value else 1
            return cell.value[:middle] + bytes([flipped]) + cell.value[middle + 1 :]
        case _:
            return 1


def _set(path: Path, cell: Cell, old: object, new: object) -> None:
    """Change a cell from `old` to `new`; its column may be the one that rows are found by."""
    key = _KEYS.get(cell.table, "rowid")
    row = old if cell.column == key else cell.row
    statement = f"UPDATE {cell.table} SET {cell.column} = ? WHERE {key} = ?"
    assert values.alter(path, statement, new, row) == 1, cell


def _alter(store: Store, cells: Iterable[Cell], other: Callable[[Cell], object]) -> None:
    """Alter one cell after the other; each must be noticed."""
    for cell in cells:
        _set(values.file_of(store), cell, cell.value, other(cell))
        assert _problems(store), cell
        _set(values.file_of(store), cell, other(cell), cell.value)
    assert _problems(store) == ()


def _problems(store: Store) -> tuple[str, ...]:
    try:
        return store.verify().problems
    except StoreError as problem:
        return (str(problem),)


NO_RESULTS = {"worker", "lease", "wish", "spending"}  # only while a campaign runs


def test_every_column_is_sealed_or_tried_below() -> None:
    """A seal covers all columns of a `SealedTable`; a new table of another kind is tried, too."""
    sealed = {table.table.name for table in SealedTable.every()}
    others = {"call", "text", "stage", "schema_version"}
    assert set(SQLModel.metadata.tables) - sealed - NO_RESULTS == others
    assert set(CALLS.c.keys()) == {"id", *CallValues._fields}


@pytest.mark.slow
def test_every_altered_value_is_noticed(store: Store) -> None:
    """All but the numbers of rows, which the database gives: they say no more than an order."""
    with store:
        cells = _cells(values.file_of(store))
        assert {cell.table for cell in cells} == set(SQLModel.metadata.tables) - NO_RESULTS
        _alter(store, cells, _other)


@pytest.mark.slow
def test_a_value_of_another_type_is_noticed_too(store: Store) -> None:
    with store:
        # SQLite itself refuses another type of a row's number.
        numbers = {("text", "id"), ("schema_version", "number")}
        cells = [
            each
            for each in _cells(values.file_of(store))
            if (each.table, each.column) not in numbers
        ]
        _alter(store, cells, lambda cell: "no" if isinstance(cell.value, bytes) else b"\xff\x00")


def test_an_empty_store_is_not_verified(tmp_path: Path) -> None:
    with (
        Store.open(str(tmp_path / "runs.db")) as store,
        pytest.raises(StoreError, match="there is nothing to verify"),
    ):
        store.verify()


@pytest.mark.parametrize(
    "removal",
    [
        "DELETE FROM conversation",
        "DELETE FROM log",
        "DELETE FROM evaluator",
        "DELETE FROM evaluation",
        "DELETE FROM statement WHERE position = 3",
        "DELETE FROM rating WHERE position = 2",
        "DELETE FROM rating WHERE stage = 'debate'",
        "DELETE FROM debate",
        "DELETE FROM call",
        "DELETE FROM stage_output",
        "DELETE FROM evidence",
        "DELETE FROM stage WHERE stage = 'relevance'",
        "DELETE FROM stage WHERE stage = 'debate'",
        "DELETE FROM stage WHERE stage = 'converse'",
    ],
)
def test_a_row_taken_away_is_noticed(store: Store, removal: str) -> None:
    with store:
        assert values.alter(store, removal) > 0
        assert store.integrity(EVALUATION) != ()


@pytest.mark.parametrize("kept", ["log", "failure"])
def test_a_place_taken_away_is_noticed_until_it_is_planned_again(store: Store, kept: str) -> None:
    with store:
        values.alter(store, "DELETE FROM campaign_conversation")
        values.alter(store, f"DELETE FROM {'log' if kept == 'failure' else 'failure'}")
        named = f"conversation {CONVERSATION} was begun, and is in no campaign's plan (1 in all)"
        assert any(each.startswith(named) for each in store.verify().problems)
        store.plan(values.CAMPAIGN, [values.conversation()])
        assert not any(each.startswith(named) for each in store.verify().problems)


@pytest.mark.parametrize("table", ["conversation", "log", "evaluation", "evaluator", "debate"])
def test_an_evaluation_that_must_have_a_debate_is_known_by_all_that_is_left(
    store: Store, table: str
) -> None:
    with store:
        assert values.alter(store, f"DELETE FROM {table}") == 1
        assert store.debated(values.CAMPAIGN) == (EVALUATION,)
        assert store.debated() == (EVALUATION,)


def test_readers_refuse_what_was_altered_and_name_it(store: Store) -> None:
    with store:
        values.alter(store, "UPDATE statement SET score = 7 WHERE role = 'Linguist'")
        named = f"statement of the Linguist in round 1 of {EVALUATION}"
        with pytest.raises(StoreError, match=named):
            store.debate(EVALUATION)
        with pytest.raises(StoreError, match=named):
            store.stage_results(EVALUATION)
        values.alter(store, "UPDATE rating SET score = 4 WHERE factor = 'Explainability'")
        values.alter(store, "UPDATE log SET body = replace(body, 'Heat', 'Meat')")
        with pytest.raises(StoreError, match=f"log of conversation {CONVERSATION}"):
            store.log(CONVERSATION)
        with pytest.raises(StoreError, match="was changed after it was written"):
            list(store.results())
        assert len(store.integrity(EVALUATION)) >= 3


def test_an_evaluation_is_read_whole_if_nothing_of_it_was_altered(store: Store) -> None:
    with store:
        whole = store.whole([EVALUATION])[EVALUATION]
        assert whole.log == LOG
        assert whole.stored == store.evaluation(EVALUATION)
        assert whole.results == store.stage_results(EVALUATION)
        values.alter(store, "UPDATE conversation SET repeat = 7")
        assert store.whole([EVALUATION]) == {}


def test_a_text_that_is_not_utf_8_does_not_end_a_verification(store: Store) -> None:
    with store:
        values.alter(
            values.file_of(store),
            "UPDATE statement SET text = CAST(x'ff41' AS TEXT) "
            "WHERE rowid = (SELECT rowid FROM statement LIMIT 1)",
        )
        found = list(verifications(store, [EVALUATION, "f" * 32]))
        assert [each.evaluation for each in found] == [EVALUATION, "f" * 32]
        with pytest.raises(StoreError, match="UTF-8"):
            found[0].differences()
        assert {each.kind for each in found[1].differences()} == {"store"}


def test_an_evaluation_without_a_debate_has_no_version(store: Store) -> None:
    with store:
        whole = store.whole([EVALUATION])[EVALUATION]
        assert Verification(store, EVALUATION, whole._replace(results={})).another_version() is None


def test_readers_refuse_what_has_lost_a_row(store: Store) -> None:
    with store:
        values.alter(store, "DELETE FROM rating WHERE stage = 'rate'")
        with pytest.raises(StoreError, match=f"stage rate of {EVALUATION}"):
            list(store.results())
        values.alter(store, "DELETE FROM debate")
        with pytest.raises(StoreError, match=f"stage \\w+ of {EVALUATION}"):
            store.debate(EVALUATION)


def test_an_altered_evaluation_is_no_reason_to_refuse_the_conversation(store: Store) -> None:
    with store:
        values.alter(store, "UPDATE rating SET score = 4 WHERE factor = 'Explainability'")
        assert store.log(CONVERSATION) is not None
        assert store.integrity(CONVERSATION) == ()


def test_a_damaged_reply_is_neither_reused_nor_read(store: Store) -> None:
    with store:
        digest = hashlib.sha256(b"the log").hexdigest()
        assert store.call(values.identity(1)) is not None
        values.alter(
            values.file_of(store),
            "UPDATE text SET body = 'the lot' WHERE body = CAST(? AS BLOB)",
            "the log",
        )
        with pytest.raises(StoreError, match=digest):
            store.call(values.identity(1))


def test_a_damaged_call_is_not_recalled(store: Store) -> None:
    values.alter(store, "UPDATE call SET completion_tokens = 3")
    with store, pytest.raises(StoreError, match=f"call {values.identity(1)}"):
        asyncio.run(store.recorder().recall(values.identity(1)))
