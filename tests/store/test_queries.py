import re
import sqlite3
from pathlib import Path

import pytest

from recjury.store import Store
from recjury.store.tables import Row
from tests.store.samples import FINDINGS, UNIT, play, reply, request, started

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[2] / "docs" / "store.md").read_text("utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
async def path(tmp_path: Path, anyio_backend: str) -> Path:
    with Store(tmp_path / "films.db") as store:
        started(store)
        await play(store, "a1", "b1")
        await store.save_failure("a2", "the user says nothing", tries=0)
        await store.record([reply("k1")], request("Rate", " this."), "main", UNIT)
        await store.save_evaluation("a1", "e-core", 0, FINDINGS, tries=0)
    return tmp_path / "films.db"


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.split("\n")[0])
async def test_each_query_of_the_page_finds_something(path: Path, query: str) -> None:
    connection = sqlite3.connect(path)
    rows = connection.execute(query).fetchall()
    connection.close()
    assert rows
    assert all(any(value is not None for value in row) for row in rows)


async def test_a_prompt_can_be_read_in_plain_sql(path: Path) -> None:
    query = next(query for query in QUERIES if "'reply'" in query)
    connection = sqlite3.connect(path)
    assert connection.execute(query).fetchall() == [
        ("system", "You are a judge."),
        ("user", "Rate"),
        ("user", " this."),
        ("reply", "3"),
    ]
    connection.close()


def test_the_page_names_all_tables_and_columns() -> None:
    lines = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE)
    named = {table: re.findall(r"\w+", re.sub(r"\(.*?\)", "", columns)) for table, columns in lines}
    assert named == {
        table.name: [column.name for column in table.columns]
        for table in Row.metadata.tables.values()
    }
