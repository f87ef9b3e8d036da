"""What both databases share: transactions that write, rows that are not there yet, and errors."""

import contextlib
import sqlite3
from collections.abc import Iterator

from sqlalchemy import Connection, Table

# The SQL of PostgreSQL's INSERT ... ON CONFLICT is SQLite's as well: one object serves both.
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.exc import DBAPIError

from recjury.errors import StoreError
from recjury.store.column_types import WrongTypeError
from recjury.store.location import StoreLocation

BUSY_SECONDS = 30.0
"""How long a process waits for another one's transaction before it gives up."""

WRITES = "recjury_writes"
"""The option of a connection whose transactions write (`for_writing`)."""


def for_writing(connection: Connection) -> Connection:
    """`connection`, whose transactions take the write lock when they begin.

    A transaction that reads first and writes later could not wait for another writer.
    """
    return connection.execution_options(**{WRITES: True})


def insert_new(table: Table) -> Insert:
    """An INSERT that does not change existing rows."""
    return insert(table).on_conflict_do_nothing()


def insert_or_replace(table: Table) -> Insert:
    """An INSERT that changes the row that has the same primary key."""
    added = insert(table)
    keys = [each.name for each in table.primary_key]
    new = {each.name: added.excluded[each.name] for each in table.c if each.name not in keys}
    return added.on_conflict_do_update(index_elements=keys, set_=new)


@contextlib.contextmanager
def one_line_errors(location: StoreLocation) -> Iterator[None]:
    """Raise a one-line StoreError for a database error that the user can fix."""
    try:
        yield
    except Exception as error:
        user_error = user_error_of(error, location)
        if user_error is None:
            raise
        raise user_error from error


def user_error_of(error: BaseException, location: StoreLocation) -> StoreError | None:
    """The StoreError for an error of the store's database that is not a bug; None for any other."""
    if isinstance(error, WrongTypeError):
        return error
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not (_is_of_sqlite(cause) or _is_of_postgres(cause)):
        return None
    said = " ".join(str(cause).split())
    hint = next((hint for words, hint in _HINTS.items() if words in said), "")
    return StoreError(f"the store {location}: {said}{hint}")


def _is_of_sqlite(cause: BaseException | None) -> bool:
    bugs = (sqlite3.IntegrityError, sqlite3.ProgrammingError)
    return isinstance(cause, sqlite3.DatabaseError) and not isinstance(cause, bugs)


def _is_of_postgres(cause: BaseException | None) -> bool:
    """Whether it is one of the driver's errors: by name, since it may not be installed."""
    names = {f"{each.__module__}.{each.__name__}" for each in type(cause).__mro__}
    return bool(names & _OF_POSTGRES)


_OF_POSTGRES = {
    "psycopg.OperationalError",  # not there, gone away, a full disk, no right to connect
    "psycopg.InternalError",  # read-only
    "psycopg.errors.InsufficientPrivilege",
}

_HINTS = {
    "file is not a database": ": expected an SQLite file",
    "disk is full": ": free some space and run again, what was acknowledged is kept",
    "No space left": ": free some space and run again, what was acknowledged is kept",
    "readonly": ": it must be writable",
    "read-only transaction": ": it must be writable",
    "locked": f": another process has held it for {BUSY_SECONDS:.0f} s",
    "unable to open": ": the folder must exist and be writable",
    "malformed": ": restore it from a copy, or read what is left with sqlite3's .recover",
    'FATAL: role "': ": name another user in the URL, or have it made with createuser",
    "does not exist": ": make it with createdb",
    "lock timeout": f": another process has held it for {BUSY_SECONDS:.0f} s",
}
