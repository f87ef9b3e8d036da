"""What tests of several rooms share."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import PostgresServer, postgres_server


@pytest.fixture(autouse=True)
def own_modules_forgotten(tmp_path: Path) -> Iterator[None]:
    """Python files of one test are not found by the next one, which may name its own alike."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real server of PostgreSQL."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def empty_postgres(postgres: PostgresServer) -> str:
    """The URL of an empty database."""
    import psycopg

    with psycopg.connect(postgres.url) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return postgres.url
