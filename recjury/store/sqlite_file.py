"""A store in one file: what may be opened, how it is made, and how it is connected to."""

import os
import sqlite3
import time
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, QueuePool, StaticPool, create_engine, event
from sqlalchemy.pool import Pool

from recjury.errors import UserError
from recjury.store.failures import in_one_line
from recjury.store.tables import NO_STORE, SCHEMA, make_tables

APPLICATION = 0x7265636A  # "recj", in the header of each store
_BUSY_SECONDS = 60.0
_HEADER = b"SQLite format 3\0"


class SqliteFile:
    """A file, or `:memory:`."""

    def __init__(self, name: str | Path, *, readonly: bool = False):
        """Raises UserError for what is no store, or of another version, and leaves it as it is."""
        self._name, self.path, self.readonly = str(name), Path(name).absolute(), readonly
        self.in_memory = str(name) in ("", ":memory:")
        if self.in_memory:
            return
        try:
            self._check()
        except OSError as error:
            raise UserError(f"the store {self}: {error.strerror}") from None
        if not readonly:
            with in_one_line(str(self)):
                self._prepare()
        self._opened = self._file()

    def __str__(self) -> str:
        """The path as it was given."""
        return self._name

    def engine(self) -> Engine:
        """Whoever reads is connected anew each time, and so notices a file that is gone."""
        pool: type[Pool] = NullPool if self.readonly else QueuePool
        engine = create_engine(
            "sqlite://", creator=self.connect, poolclass=StaticPool if self.in_memory else pool
        )
        event.listen(engine, "begin", _begin)
        return engine

    def connect(self) -> sqlite3.Connection:
        """A connection for any thread, which begins no transaction by itself."""
        if self.in_memory:
            return self._memory
        connection = _connect(f"{self.path.as_uri()}?mode=rw{self._immutable()}")
        # What was written survives the end of the process; the last writes may not survive the end
        # of power, and then the calls are sent again.
        settings = ["synchronous = NORMAL", "cache_size = -32000"]
        settings += ["query_only = ON"] if self.readonly else []
        try:
            for setting in settings:
                connection.execute(f"PRAGMA {setting}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    @cached_property
    def _memory(self) -> sqlite3.Connection:
        """The one connection, since what is in memory ends with it."""
        connection = _connect(":memory:")
        _make(connection)
        return connection

    @property
    def is_gone(self) -> bool:
        """Whether the file was removed or replaced, so that writing would lead nowhere."""
        return not self.in_memory and self._file() != self._opened

    def _file(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _immutable(self) -> str:
        """Without a log nobody writes, and where none can be made, SQLite must not want one."""
        path = self.path.resolve()  # the log is beside the file, not beside a link to it
        log = path.with_name(f"{path.name}-wal")
        may_write = os.access(path.parent, os.W_OK)
        return "&immutable=1" if self.readonly and not may_write and not log.exists() else ""

    def _check(self) -> None:
        if self.path.is_dir():
            raise UserError(f"{self} is a folder: name a file in it")
        if not self.path.exists():
            self._check_missing()
            return
        with self.path.open("rb") as file:
            header = file.read(100)
        if header:
            self._check_header(header)
        elif self.readonly:
            raise UserError(f"{self} is empty: no run has written to it")

    def _check_missing(self) -> None:
        if not self.path.parent.is_dir():
            raise UserError(
                f"there is no folder {self.path.parent}: make it, or name another store"
            )
        if self.readonly:
            names = sorted(path.name for path in self.path.parent.glob("*.db"))
            raise UserError(f"there is no store {self}: beside it is {', '.join(names) or 'none'}")

    def _check_header(self, header: bytes) -> None:
        if not header.startswith(_HEADER):
            raise UserError(f"{self} is not a store but another kind of file: name another one")
        version, application = (int.from_bytes(header[at : at + 4]) for at in (60, 68))
        if application != APPLICATION:
            raise UserError(f"{self} {NO_STORE}")
        if version != SCHEMA:
            raise UserError(
                f"{self} has tables of version {version}, and this recjury those of {SCHEMA}: "
                "use the recjury that wrote it, or name another file"
            )

    def _prepare(self) -> None:
        """Make the tables if there are none. Several processes may do so at once."""
        connection = _connect(f"{self.path.as_uri()}?mode=rwc")
        try:
            if not _number(connection, "user_version"):
                _make(connection)
            _log_writes(connection)
        finally:
            connection.close()


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(
        uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _make(connection: sqlite3.Connection) -> None:
    """All tables in one transaction, with the marks that a store is known by."""
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    event.listen(engine, "begin", _begin)
    with engine.execution_options(begin="IMMEDIATE").begin() as transaction:
        if not _number(connection, "user_version"):
            make_tables(transaction)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _log_writes(connection: sqlite3.Connection) -> None:
    """Readers go on while somebody writes. The change wants the file for itself, and is tried."""
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def _begin(connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    if not driver.in_transaction:  # in memory, one connection is used within itself
        kind = connection.get_execution_options().get("begin", "DEFERRED")
        connection.exec_driver_sql(f"BEGIN {kind}")
