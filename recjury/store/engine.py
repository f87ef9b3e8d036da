"""Everything specific to SQLite: connections, pragmas, transactions, and error messages."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from recjury.errors import StoreError
from recjury.store.column_types import WrongTypeError, wrong_value

BUSY_SECONDS = 30.0
"""How long a process waits for another one's transaction before it gives up."""

_IMMEDIATE = "recjury_immediate"


def store_path(url: str) -> Path:
    """The file that `url` means: `sqlite:///relative`, `sqlite:////absolute`, or a plain path.

    Raises StoreError for another database, and for one in memory, which threads cannot share.
    """
    if "://" not in url and not url.startswith("sqlite:"):
        return _file(url, url)
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError(f"expected a store like sqlite:///runs.db, got {url}") from None
    if parsed.get_backend_name() != "sqlite":
        raise StoreError(f"expected a store like sqlite:///runs.db, got {parsed.drivername}://")
    if parsed.query:
        raise StoreError(f"a store's URL takes no options: leave out what follows ? in {url}")
    if parsed.host:
        raise StoreError(f"a store is a local file: expected sqlite:///{parsed.host}, got {url}")
    return _file(parsed.database or "", url)


def _file(place: str, url: str) -> Path:
    if place in {"", ":memory:"}:
        raise StoreError("a store needs a file, such as sqlite:///runs.db; memory cannot be shared")
    if "\0" in place:
        raise StoreError("a store's name cannot hold the character NUL")
    if place.endswith("/") or Path(place).name in {"", ".."}:
        raise StoreError(f"a store is a file, not a folder: name a file instead of {url}")
    return Path(place)


def connect(path: Path, *, read_only: bool = False) -> Engine:
    """An engine on the SQLite file at `path`; nothing is opened yet.

    With `read_only`, SQLite refuses to change the file. SQLite's write-ahead log needs two files
    beside the store while it is read, which are removed at the end; where they cannot be made, and
    so nobody writes, the store is read without them.
    """
    url = URL.create("sqlite", database=str(path))
    if read_only and not _has_writable_log(path):
        query = {"uri": "true", "mode": "ro", "immutable": "1"}
        url = url.set(database=path.absolute().as_uri(), query=query)
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare)
    if read_only:
        event.listen(engine, "connect", _refuse_changes)
    event.listen(engine, "begin", _begin)
    return engine


def _has_writable_log(path: Path) -> bool:
    """Whether there is a write-ahead log beside the file, or one could be made."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def _refuse_changes(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA query_only = ON")
    cursor.close()


def _prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    # Without this, Python's driver begins transactions late and commits before DDL.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.close()


def _begin(connection: Connection) -> None:
    immediate = connection.get_execution_options().get(_IMMEDIATE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def for_writing(connection: Connection) -> Connection:
    """`connection`, whose transactions take the write lock when they begin.

    A transaction that reads first and writes later could not wait for another writer.
    """
    return connection.execution_options(**{_IMMEDIATE: True})


def use_write_ahead_log(connection: Connection) -> None:
    """Let readers and the writer work at the same time; the setting stays in the file."""
    raw = connection.connection.cursor()
    raw.execute("PRAGMA journal_mode = WAL")
    raw.close()


def file_problems(connection: Connection) -> list[str]:
    """What SQLite itself finds wrong with the file of a store."""
    found = connection.exec_driver_sql("PRAGMA integrity_check").scalars()
    return [str(problem) for problem in found if problem != "ok"]


def insert_new(table: Table) -> Insert:
    """An INSERT that does not change existing rows."""
    return insert(table).on_conflict_do_nothing()


@contextlib.contextmanager
def one_line_errors(path: Path | str | None) -> Iterator[None]:
    """Raise a one-line StoreError for a database error that the user can fix."""
    try:
        yield
    except (DBAPIError, sqlite3.Error, WrongTypeError) as error:
        user_error = user_error_of(error, path)
        if user_error is None:
            raise
        raise user_error from error


def user_error_of(error: BaseException, path: Path | str | None) -> StoreError | None:
    """The StoreError for a database error that is not a bug; None for any other."""
    if isinstance(error, WrongTypeError):
        return (path and wrong_value(path)) or error
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, sqlite3.DatabaseError):
        return None
    if isinstance(cause, sqlite3.IntegrityError | sqlite3.ProgrammingError):
        return None
    hint = next((hint for words, hint in _HINTS.items() if words in str(cause)), "")
    return StoreError(f"the store {path}: {cause}{hint}")


_HINTS = {
    "file is not a database": ": expected an SQLite file",
    "disk is full": ": free some space and run again, what was acknowledged is kept",
    "readonly": ": it must be writable",
    "locked": f": another process has held it for {BUSY_SECONDS:.0f} s",
    "unable to open": ": the folder must exist and be writable",
    "malformed": ": restore it from a copy, or read what is left with sqlite3's .recover",
}
