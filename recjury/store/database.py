"""A database: transactions for readers, and one thread that writes and commits in groups."""

import asyncio
import queue
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection

from recjury.errors import Stop
from recjury.store.failures import in_one_line
from recjury.store.server import Server
from recjury.store.sqlite_file import SqliteFile

T = TypeVar("T")

Inserts = Sequence[tuple[str, Sequence[tuple[Any, ...]]]]
"""Statements with `?` for their values, and the rows of each."""

_GROUP = 256  # so many writes at most are one transaction


class _Job(NamedTuple):
    work: Callable[[Connection], Any]
    future: asyncio.Future[Any]

    def settle(self, result: Any, error: Exception | None = None) -> None:
        """Tell whoever waits, in their loop."""
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            self.future.get_loop().call_soon_threadsafe(_settle, self.future, result, error)


class Database:
    """Where rows are. `name` is for messages and has no password."""

    def __init__(self, url: str | Path, *, readonly: bool = False):
        """Raises UserError if there is no store, or none of this version."""
        self._where = _file_or_server(url, readonly=readonly)
        self.name, self.is_file = str(self._where), isinstance(self._where, SqliteFile)
        self._engine = self._where.engine()
        self._writing = self._engine.execution_options(begin="IMMEDIATE")
        # One connection has all that is in memory, so threads take turns.
        self._turn: AbstractContextManager[Any] = (
            threading.RLock() if self._where.in_memory else nullcontext()
        )
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        if not self._where.in_memory and not readonly:
            self._writer = threading.Thread(target=self._write_all, name="store", daemon=True)
            self._writer.start()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A transaction for reading: it sees what was committed when it began.

        Raises Stop if the database cannot be read.
        """
        with in_one_line(self.name), self._turn, self._engine.begin() as connection:
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A transaction for writing; another one, of any process, waits. Raises Stop."""
        with in_one_line(self.name), self._turn:
            self._check_is_there()
            with self._writing.begin() as connection:
                yield connection

    def _check_is_there(self) -> None:
        if self._where.is_gone:
            raise Stop(f"the store {self.name} was removed or replaced while it was in use")

    async def write(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, after the commit. Writes that wait at once are committed together.

        `work` runs once more if another write of its group fails. Raises Stop.
        """
        if self._writer is None:
            with self.transaction() as connection:
                return work(connection)
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(work, future))
        return await future

    async def insert(self, statements: Inserts) -> int:
        """Insert rows, in one transaction; returns how many the last statement has added.

        Raises Stop.
        """
        return await self.write(lambda connection: self._insert(connection, statements))

    def _insert(self, connection: Connection, statements: Inserts) -> int:
        file: Any = self.is_file and connection.connection.driver_connection
        execute = file.executemany if file else connection.exec_driver_sql
        return [int(execute(self.marked(sql), rows).rowcount) for sql, rows in statements][-1]

    @cached_property
    def driver(self) -> sqlite3.Connection:
        """A connection that finds calls: SQLAlchemy would take longer than SQLite itself."""
        assert isinstance(self._where, SqliteFile)
        with in_one_line(self.name):
            return self._where.connect()

    def marked(self, statement: str) -> str:
        """SQL with `?` for its values, as the driver wants them marked."""
        return statement if self.is_file else statement.replace("?", "%s")

    def close(self) -> None:
        """Finish what is being written. A file is whole by itself after its last connection."""
        if self._writer is not None:
            self._jobs.put(None)
            self._writer.join()
            self._writer = None
        if "driver" in self.__dict__:
            self.driver.close()
            del self.driver
        self._engine.dispose()

    def _write_all(self) -> None:
        while group := self._next_group():
            self._commit(group)

    def _next_group(self) -> list[_Job]:
        """All writes that wait, once there is one; empty at the end."""
        group = []
        job = self._jobs.get()
        while job is not None:
            group.append(job)
            if self._jobs.empty() or len(group) == _GROUP:
                return group
            job = self._jobs.get()
        if group:
            self._jobs.put(None)
        return group

    def _commit(self, group: list[_Job]) -> None:
        try:
            with self.transaction() as connection:
                results = [job.work(connection) for job in group]
        except Exception as error:
            if len(group) == 1:
                group[0].settle(None, error)
            else:
                for job in group:
                    self._commit([job])
        else:
            for job, result in zip(group, results, strict=True):
                job.settle(result)


def _file_or_server(url: str | Path, *, readonly: bool) -> SqliteFile | Server:
    """What stands after `sqlite:///` is a path as it is: with `?`, `%` or `#`, too."""
    if isinstance(url, Path):
        return SqliteFile(url, readonly=readonly)
    if file := re.fullmatch(r"sqlite(?:\+pysqlite)?://(?:/(.*))?", url, re.DOTALL):
        return SqliteFile(file[1] or ":memory:", readonly=readonly)
    if "://" in url:
        return Server(url, readonly=readonly)
    return SqliteFile(url, readonly=readonly)


def _settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.done():  # whoever waited was cancelled
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


class Chapter:
    """A part of what a store can do."""

    def __init__(self, database: Database):
        self.database = database
