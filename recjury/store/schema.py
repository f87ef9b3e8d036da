"""The schema of a store: whether a database has it, and how a new one gets it.

There is one schema: the tables of the code.
"""

import secrets

from sqlalchemy import Connection, inspect, select
from sqlmodel import SQLModel

from recjury.errors import StoreError
from recjury.store.tables import SchemaRow, table_of

SCHEMA = 2
"""The number of this version's schema."""


def check_schema(connection: Connection) -> None:
    """Raise StoreError for another schema than this version's, and for another database."""
    current = _current(connection)
    if current == SCHEMA:
        return
    if isinstance(current, str):
        raise StoreError(
            f"the store has the schema {current} of an earlier recjury: export it with that "
            "version (`recjury export DIR`), and judge DIR/conversations.jsonl with this one"
        )
    raise StoreError(
        f"the store's schema is {current}, and this version of recjury knows {SCHEMA} only: "
        "update recjury, or name another store"
    )


def create_tables(connection: Connection) -> None:
    """Create all tables; `connection` is in a transaction that holds the write lock."""
    SQLModel.metadata.create_all(connection)
    connection.execute(
        table_of(SchemaRow).insert().values(number=SCHEMA, secret=secrets.token_bytes())
    )


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
