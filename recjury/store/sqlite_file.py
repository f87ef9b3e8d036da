"""Everything specific to SQLite: the file, its connections and its transactions.

A store that is missing is made in a temporary file beside it, under a lock, and renamed when it is
whole: processes that start at once on a new store wait for each other, and one that is killed
leaves no half of a store.
"""

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from recjury.errors import StoreError
from recjury.store.acknowledged import CountedTransactions, check_acknowledged, forget
from recjury.store.engine import BUSY_SECONDS, WRITES, for_writing
from recjury.store.location import StoreLocation, Transactions
from recjury.store.schema import create_tables

_LOGS = ("-journal", "-wal", "-shm")
"""The endings of what SQLite keeps beside a store while it is open."""


class SqliteFile(StoreLocation):
    """A store in one file, with SQLite's write-ahead log beside it."""

    def __init__(self, path: Path):
        """A symbolic link is followed: locks and logs lie beside the file, not beside the link."""
        self.path = Path(os.path.realpath(path)) if path.is_symlink() else path

    @classmethod
    def named(cls, place: str) -> Self:
        """The file that the user calls `place`. Raises StoreError if it can be none."""
        if place in {"", ":memory:"}:
            raise StoreError(
                "a store needs a file, such as sqlite:///runs.db; memory cannot be shared"
            )
        if "\0" in place:
            raise StoreError("a store's name cannot hold the character NUL")
        if place.endswith("/") or Path(place).name in {"", ".."}:
            raise StoreError(f"a store is a file, not a folder: name a file instead of {place}")
        return cls(Path(place))

    def __str__(self) -> str:
        """The path."""
        return str(self.path)

    @property
    def full_name(self) -> str:
        """As `StoreLocation.full_name`."""
        return str(self.path.resolve())

    def connect(self, *, read_only: bool = False) -> Engine:
        """As `StoreLocation.connect`.

        SQLite's write-ahead log needs two files beside the store while it is read, which are
        removed at the end; where they cannot be made, and so nobody writes, the store is read
        without them. Raises StoreError for a file with a hard link, under whose name another
        process would write another log, and for a log that is no file.
        """
        for log in (self.path.with_name(f"{self.path.name}{each}") for each in _LOGS):
            if os.path.lexists(log) and not log.is_file():
                raise StoreError(f"the store {self}: {log} is not a regular file: remove it")
        if not read_only and self.path.is_file() and self.path.stat().st_nlink > 1:
            raise StoreError(
                f"the store {self} has another name (a hard link), under which it could be written "
                "at the same time: remove that name, or copy the file"
            )
        url = URL.create("sqlite", database=str(self.path))
        if read_only and not self._has_writable_log():
            query = {"uri": "true", "mode": "ro", "immutable": "1"}
            url = url.set(database=self.path.absolute().as_uri(), query=query)
        engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
        event.listen(engine, "connect", _prepare)
        if read_only:
            event.listen(engine, "connect", _refuse_changes)
        event.listen(engine, "begin", _begin)
        return engine

    def _has_writable_log(self) -> bool:
        """Whether there is a write-ahead log beside the file, or one could be made."""
        path = self.path
        log = path.with_name(f"{path.name}-wal")
        return log.exists() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))

    @property
    def exists(self) -> bool:
        """Whether there is more than an empty file, which SQLite takes for a new database."""
        return self.path.is_file() and self.path.stat().st_size > 0

    def transactions(self) -> Transactions:
        """As `StoreLocation.transactions`; changes are counted, so that lost ones are noticed."""
        return CountedTransactions(self.path)

    def check(self, connection: Connection) -> None:
        """As `StoreLocation.check`."""
        check_acknowledged(connection, self.path)

    def close(self) -> None:
        """As `StoreLocation.close`."""
        forget(self.path)

    def problems(self, connection: Connection) -> list[str]:
        """As `StoreLocation.problems`."""
        found = connection.exec_driver_sql("PRAGMA integrity_check").scalars()
        return [str(problem) for problem in found if problem != "ok"]

    def make(self) -> None:
        """As `StoreLocation.make`, with its folder."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the store {self}: its folder cannot be made: {error}") from error
        if self.exists:
            return
        with _locked(self.path.parent):
            if not self.exists:
                self._make()

    def _make(self) -> None:
        unfinished = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.new")
        engine = SqliteFile(unfinished).connect()
        try:
            with engine.connect() as connection:
                with for_writing(connection).begin():
                    create_tables(connection)
                raw = connection.connection.cursor()
                raw.execute("PRAGMA journal_mode = WAL")  # readers work while the writer does
                raw.close()
            engine.dispose()
            os.replace(unfinished, self.path)
        finally:
            engine.dispose()
            for leftover in unfinished.parent.glob(f"{unfinished.name}*"):
                leftover.unlink(missing_ok=True)


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
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process makes a store in this folder.

    The folder itself is locked, which needs no file of its own that would have to be removed.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
