"""Databases of PostgreSQL that are not there, of another program, or not to be written."""

from collections.abc import Iterator
from typing import Any

import pytest

from recjury.errors import UserError
from recjury.store import Store
from tests.postgres import PostgresServer
from tests.store.samples import started


def change(url: str, *statements: Any) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def reader(empty_postgres: str) -> Iterator[str]:
    """The URL of a store for a role that may only read."""
    Store(empty_postgres).close()
    change(empty_postgres, "CREATE ROLE reader LOGIN", "GRANT pg_read_all_data TO reader")
    yield empty_postgres.replace("recjury@", "reader@")
    change(empty_postgres, "DROP ROLE reader")


@pytest.mark.parametrize("readonly", [True, False], ids=["to read", "to write"])
@pytest.mark.parametrize("table", ["song", "meta"])
def test_a_database_of_another_program_is_left_alone(
    empty_postgres: str, table: str, readonly: bool
) -> None:
    change(empty_postgres, f"CREATE TABLE {table} (number int)")
    with pytest.raises(UserError, match="of another program") as error:
        Store(empty_postgres, readonly=readonly)
    assert "\n" not in str(error.value)
    change(empty_postgres, f"DROP TABLE {table}")
    with pytest.raises(UserError, match="is empty"):
        Store(empty_postgres, readonly=True)


def test_a_database_that_is_not_there_is_one_line(postgres: PostgresServer) -> None:
    with pytest.raises(UserError, match="does not exist") as error:
        Store(postgres.url.replace("/postgres", "/nowhere"))
    assert "\n" not in str(error.value)


def test_a_role_that_may_only_read_reads(reader: str) -> None:
    with Store(reader, readonly=True) as store:
        assert store.campaigns() == []
    with Store(reader) as store, pytest.raises(UserError, match="permission denied") as error:
        started(store)
    assert "\n" not in str(error.value)


def test_a_database_that_may_only_be_read_is_one_line(postgres: PostgresServer) -> None:
    url = postgres.new_database("closed")
    change(url, "ALTER DATABASE closed SET default_transaction_read_only = on")
    with pytest.raises(UserError, match="make the database writable") as error:
        Store(url)
    assert "\n" not in str(error.value)
