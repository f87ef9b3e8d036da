"""The schema of a store: whether a database has it, and how a new one gets it.

There is one schema: the tables of the code.
"""

import secrets

from sqlalchemy import Connection, inspect, select
from sqlmodel import SQLModel

from recjury.errors import StoreError
from recjury.store.column_types import as_stored
from recjury.store.sealed import as_written, check, seal
from recjury.store.tables import SchemaRow, table_of

SCHEMA = 5
"""The number of this version's schema."""

_INCOMPLETE = 0


def check_schema(connection: Connection) -> None:
    """Raise StoreError for another schema than this version's, an altered one, and for another
    database."""
    current = _current(connection)
    if current == SCHEMA:
        rows = connection.execute(select(*as_stored(table_of(SchemaRow)))).all()
        with as_written("the row of table schema_version in the store"):
            (row,) = rows
            check(seal([SCHEMA, row.secret.hex()]), row.seal)
        return
    if current == _INCOMPLETE:
        raise StoreError(
            "the store is incomplete, since the copy or merge that made it did not end well: add "
            "what is missing with `recjury store merge ... --into` it, or remove it"
        )
    if isinstance(current, str):
        raise StoreError(
            f"the store has the schema {current} of an earlier recjury: export it with that "
            "version (`recjury export DIR`), and judge DIR/conversations.jsonl with this one"
        )
    raise StoreError(
        f"the store's schema is {current}, and this version of recjury knows {SCHEMA} only: "
        "use the version that made the store, or name another one"
    )


def is_incomplete(connection: Connection) -> bool:
    """Whether the copy or merge that made the store did not end well. Raises as `check_schema`."""
    return _current(connection) == _INCOMPLETE


def create_tables(connection: Connection) -> None:
    """Create all tables; `connection` is in a transaction that holds the write lock."""
    SQLModel.metadata.create_all(connection)
    connection.execute(table_of(SchemaRow).insert().values(_row(secrets.token_bytes())))


def read_secret(connection: Connection) -> bytes:
    """The secret of the answers' codes, which stores of one campaign share."""
    secret: bytes = connection.execute(select(table_of(SchemaRow).c.secret)).scalar_one()
    return secret


def change_secret(connection: Connection, secret: bytes, *, is_whole: bool) -> None:
    """Give a new store the secret of another one. It cannot be opened until it is whole."""
    row = _row(secret) if is_whole else {**_row(secret), "number": _INCOMPLETE}
    connection.execute(table_of(SchemaRow).update().values(row))


def _row(secret: bytes) -> dict[str, object]:
    return {"number": SCHEMA, "secret": secret, "seal": seal([SCHEMA, secret.hex()])}


def _current(connection: Connection) -> int | str | None:
    """The number of the schema, or the name that code before version 0.2 gave it."""
    tables = inspect(connection).get_table_names()
    number: int | str | None
    if "schema_version" in tables:
        number = connection.scalar(select(table_of(SchemaRow).c.number))
        return number
    if "alembic_version" in tables:
        number = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        return number
    if tables:
        raise StoreError(
            f"expected a recjury store, got another database (with table {tables[0]}): "
            f"name another one"
        )
    return None
