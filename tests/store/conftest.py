"""Stores of each kind: a file, in memory, and a real PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.store import Store


@pytest.fixture(params=["file", "memory", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    urls = {"file": str(tmp_path / "x.db"), "memory": ":memory:"}
    url = urls.get(request.param) or request.getfixturevalue("empty_postgres")
    with Store(url) as opened:
        yield opened


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
