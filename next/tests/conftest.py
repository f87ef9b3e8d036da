"""What tests of several rooms share."""

from collections.abc import Iterator

import pytest

from tests.postgres import PostgresServer, postgres_server


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
