"""Rows are sealed when they are written, and those that were altered are named when read."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from sqlalchemy import Column, String, select
from sqlmodel import SQLModel

from recjury.errors import StoreError
from recjury.records import JSON, Record
from recjury.store import Store
from recjury.store.sealed import SealedTable, as_written, check, seal
from recjury.store.texts import Interner
from recjury.store.writer import Transaction
from tests.store import test_damage, values
from tests.store.test_damage import CONVERSATION, EVALUATION


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(f"sqlite:///{tmp_path}/runs.db")
    values.begun(store)
    asyncio.run(test_damage.fill(store))
    return store


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("UPDATE conversation SET repeat = 7", f"conversation {CONVERSATION}"),
        ("UPDATE log SET seconds = x'00'", f"the log of conversation {CONVERSATION}"),
        ("UPDATE evaluation SET judging = 7", f"evaluation {EVALUATION}"),
        (
            "UPDATE rating SET score = 4 WHERE factor = 'Explainability'",
            f"the rating of Explainability of evaluation {EVALUATION}",
        ),
        ("UPDATE debate SET score = 1", f"the verdict of evaluation {EVALUATION}"),
        (
            "UPDATE statement SET text = 'so' WHERE position = 0",
            f"the statement of the Common User in round 1 of {EVALUATION}",
        ),
        (
            "UPDATE stage_output SET body = 1",
            f"the output of stage note of evaluation {EVALUATION}",
        ),
        (
            "UPDATE evidence SET label = 'so'",
            f"the evidence 0 of stage relevance of evaluation {EVALUATION}",
        ),
        ("UPDATE call SET latency = 99 WHERE id = 1", f"call {values.identity(1)}"),
    ],
)
def test_what_was_altered_is_named(store: Store, change: str, named: str) -> None:
    with store:
        assert values.alter(store, change) > 0
        problems = store.integrity(EVALUATION)
    assert any(f"{named} in the store was changed after it was written" in p for p in problems)


def test_an_altered_evaluator_is_named(store: Store) -> None:
    with store:
        values.alter(store, "UPDATE evaluator SET kind = 'face'")
        (problem,) = store.integrity(EVALUATION)
    assert problem.startswith("evaluator ")
    assert problem.endswith(" in the store was changed after it was written")


def test_what_is_missing_is_named_before_what_was_altered(store: Store) -> None:
    with store, pytest.raises(StoreError, match=r"conversation f+ is not in the store"):
        list(store.results(conversations=["f" * 32, CONVERSATION]))


def test_a_row_with_a_fitting_seal_that_is_no_record_was_changed_too() -> None:
    with pytest.raises(StoreError, match="the row was changed"), as_written("the row"):
        int("words")
    with pytest.raises(StoreError, match="the row was changed"), as_written("the row"):
        check(seal(["words"]), seal(["letters"]))


class _Film(Record):
    """`year` is new."""

    title: str
    cast: Mapping[str, JSON]
    year: int | None = None


@pytest.fixture
def films() -> Iterator[SealedTable[_Film]]:
    key = Column("id", String, primary_key=True)
    table = SealedTable("film", _Film, key, named="film {id}")
    yield table
    SQLModel.metadata.remove(table.table)


def test_a_row_without_a_new_column_has_the_seal_that_it_had(
    store: Store, films: SealedTable[_Film]
) -> None:
    heat = _Film(title="Heat", cast={"names": ["Pacino"]})
    row = {"id": "1", "title": "Heat", "cast": hashlib.sha256(b'{"names":["Pacino"]}').hexdigest()}
    engine = store.location.connect()
    with store, engine.connect() as connection:
        films.table.create(connection)
        films.insert(
            Transaction(connection, Interner(engine), store.location.transactions()),
            [(heat, {"id": "1"})],
        )
        assert connection.execute(select(films.c.seal)).scalar_one() == seal(row)
        assert [film for _, film in films.find(connection, ["1"])] == [heat]
    engine.dispose()
