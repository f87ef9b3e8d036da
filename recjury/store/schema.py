"""The schema of a store: whether a file has it, and how a new one gets it.

There is one schema: the tables of the code. A store that is missing is made in a
temporary file beside it, under a lock, and renamed when it is whole: processes that start at once
on a new store wait for each other, and one that is killed leaves no half of a store.
"""

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, inspect, select
from sqlmodel import SQLModel

from recjury.errors import StoreError
from recjury.store.column_types import as_stored
from recjury.store.engine import connect, for_writing, use_write_ahead_log
from recjury.store.sealed import as_written, check, seal
from recjury.store.tables import SchemaRow, table_of

SCHEMA = 3
"""The number of this version's schema."""


def check_schema(connection: Connection) -> None:
    """Raise StoreError for another schema than this version's, an altered one, and for another
    database."""
    current = _current(connection)
    if current == SCHEMA:
        row = connection.execute(select(*as_stored(table_of(SchemaRow)))).one()
        with as_written("the row of table schema_version in the store"):
            check(seal([SCHEMA, row.secret.hex()]), row.seal)
        return
    if isinstance(current, str):
        raise StoreError(
            f"the store has the schema {current} of an earlier recjury: export it with that "
            "version (`recjury export DIR`), and judge DIR/conversations.jsonl with this one"
        )
    raise StoreError(
        f"the store's schema is {current}, and this version of recjury knows {SCHEMA} only: "
        "use the version that made the store, or name another one"
    )


def make_store(path: Path) -> None:
    """Make the store at `path` if there is none. Raises StoreError."""
    if has_content(path):
        return
    with _making(path):
        if has_content(path):
            return
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
        engine = connect(unfinished)
        try:
            with engine.connect() as connection:
                with for_writing(connection).begin():
                    _create_tables(connection)
                use_write_ahead_log(connection)
            engine.dispose()
            os.replace(unfinished, path)
        finally:
            engine.dispose()
            for leftover in unfinished.parent.glob(f"{unfinished.name}*"):
                leftover.unlink(missing_ok=True)


def has_content(path: Path) -> bool:
    """Whether there is more than an empty file, which SQLite takes for a new database."""
    return path.is_file() and path.stat().st_size > 0


@contextlib.contextmanager
def _making(path: Path) -> Iterator[None]:
    """Wait until no other process makes this store."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    # The folder is locked, which needs no file of its own that would have to be removed.
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _create_tables(connection: Connection) -> None:
    """Create all tables; `connection` is in a transaction that holds the write lock."""
    SQLModel.metadata.create_all(connection)
    secret = secrets.token_bytes()
    row = {"number": SCHEMA, "secret": secret, "seal": seal([SCHEMA, secret.hex()])}
    connection.execute(table_of(SchemaRow).insert().values(row))


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
            f"name another file"
        )
    return None
