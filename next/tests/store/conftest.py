"""Stores of each kind. PostgreSQL's is the empty database that `RECJURY_TEST_POSTGRES` names."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.store import Store


@pytest.fixture(params=["file", "memory", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    urls = {"file": str(tmp_path / "x.db"), "memory": ":memory:"}
    url = urls.get(request.param) or os.environ.get("RECJURY_TEST_POSTGRES")
    if url is None:
        pytest.skip("no database of PostgreSQL is named")
    if request.param == "postgres":
        _emptied(url)
    with Store(url) as opened:
        yield opened


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _emptied(url: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
