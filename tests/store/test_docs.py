"""The queries of docs/store.md run, and find what the docs say they find."""

import asyncio
import re
import sqlite3
from pathlib import Path

import pytest

from recjury.records import Evidence, Role, StageResult
from recjury.store import Store
from tests.store import values

_QUERIES = re.findall(
    r"```sql\n(.*?)```", (Path(__file__).parents[2] / "docs" / "store.md").read_text(), re.DOTALL
)


@pytest.fixture
def connection(tmp_path: Path) -> sqlite3.Connection:
    """A connection as the `sqlite3` program has it, to a store with one conversation, evaluated."""

    async def fill(store: Store, conversation: str) -> None:
        await store.recorder().record(values.call(1))
        await store.save_log(conversation, values.log())
        where = Evidence(factor="Novelty", label="name", turn=0, span_start=4, span_end=8)
        rated = StageResult(values.ratings(), evidence=(where,))
        debate = values.debate(values.log().id)
        await store.save_failure(values.evaluation().identity, "rate", "no answer")
        await store.save_stage(values.evaluation(), "rate", rated)
        await store.save_stage(values.evaluation(), "debate", StageResult(debate=debate))

    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        (conversation,) = values.begun(store)
        asyncio.run(fill(store, conversation))
    connection = sqlite3.connect(tmp_path / "runs.db")
    connection.create_function("sqlar_uncompress", 2, lambda body, size: body)
    return connection


@pytest.mark.parametrize(
    ("query", "expected"),
    list(
        zip(
            _QUERIES,
            [
                [("retrieval", 1, None, 70.0)],
                [("judge", "Groundness", "unreadable", 1)],
                [(0, "system", "Try Heat."), (1, "user", "I like it ü")],
                [("judge/Novelty", 1, 10, 2, 0.25)],
                [("system", "You rate."), ("user", "the rubric "), ("user", "the log")],
                [(1, role.value, 70.0) for role in Role],
                [("name", "", "Heat")],
                [("rate", "no answer", 1)],
                [("first", 1, 1)],
                [("judge", 1, 0.5, 0.0)],
            ],
            strict=True,
        )
    ),
)
def test_a_query_of_the_docs_finds_what_it_is_for(
    connection: sqlite3.Connection, query: str, expected: list[tuple[object, ...]]
) -> None:
    query = query.replace("3f2a%", values.conversation().id)
    query = query.replace("0A1B%", values.identity(1).upper())
    with connection:
        assert connection.execute(query).fetchall() == expected
    connection.close()
