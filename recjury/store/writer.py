"""The writer thread: it has its own connection and commits submitted items in batches.

`submit` returns when the item's transaction is committed. Items that arrive within a few
milliseconds share a transaction. If one item fails, the others are still written.
"""

import asyncio
import contextlib
import functools
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine

from recjury.errors import StoreError
from recjury.store.column_types import WrongTypeError
from recjury.store.engine import for_writing, user_error_of
from recjury.store.location import StoreLocation, Transactions
from recjury.store.texts import Interner

T = TypeVar("T")

WINDOW = 0.005
"""How many seconds the first item of a batch waits for others, so that there are fewer commits.

The waiting item holds no connection of the gateway. `python -m benchmarks.harness` measures it.
"""

_BATCH = 1024


class Transaction(NamedTuple):
    """The transaction that a write function uses. The function must not commit or roll back."""

    connection: Connection
    texts: Interner
    commits: Transactions


@contextlib.contextmanager
def transactions(location: StoreLocation, engine: Engine) -> Iterator[Transaction]:
    """A connection for `write_all`, which begins and ends the transactions."""
    commits = location.transactions()
    with engine.connect() as connection, contextlib.closing(commits):
        yield Transaction(for_writing(connection), Interner(engine), commits)


Work = Callable[[Transaction, Sequence[T]], None]
"""Writes any number of items of one kind."""


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    work: Work[T]
    item: T
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[None]"
    error: Exception | None = None


class Writer:
    """Writes for one process. The thread starts with the first item and ends with `close`."""

    def __init__(self, location: StoreLocation, engine: Engine, *, window: float = WINDOW):
        """Nothing is opened before the first item is submitted."""
        self._location = location
        self._engine = engine
        self._window = window
        self._queue: queue.SimpleQueue[_Job[object] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def submit(self, work: Work[T], item: T) -> None:
        """Write `item`; return when it is committed.

        Raises StoreError if the store cannot be written (a full disk, a writer that broke down),
        and everything that `work` raises. If the waiting task is cancelled, the item is still
        written.
        """
        if self._closed:
            raise StoreError("the store is closed")
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="recjury-writer", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._queue.put(_Job(work, item, loop, done))  # type: ignore[arg-type]  # work fits its item
        await done

    async def flush(self) -> None:
        """Return when everything submitted before is committed."""
        if self._thread is not None and not self._closed:
            await self.submit(_nothing, None)

    def close(self) -> None:
        """Commit everything submitted, and end the thread."""
        self._closed = True
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        jobs: list[_Job[object]] = []
        more = True
        try:
            with transactions(self._location, self._engine) as transaction:
                while more:
                    jobs, more = self._gather()
                    self._commit(transaction, jobs)
                    _announce(jobs)
                    jobs = []
        except BaseException as error:  # if the thread just ended, submitters would wait forever
            self._refuse(error, jobs, more)

    def _refuse(self, cause: BaseException, jobs: list[_Job[object]], more: bool) -> None:
        """Fail `jobs`, and all later ones until the store is closed."""
        reason = user_error_of(cause, self._location) or StoreError(
            f"the store can no longer be written: {type(cause).__name__}: {cause}"
        )
        while True:
            for job in jobs:
                job.error = reason
            _announce(jobs)
            if not more:
                return
            jobs, more = self._gather()

    def _gather(self) -> tuple[list[_Job[object]], bool]:
        job = self._queue.get()
        if job is None:
            return [], False
        jobs = [job]
        time.sleep(self._window)
        while len(jobs) < _BATCH:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:
                return jobs, False
            jobs.append(job)
        return jobs, True

    def _commit(self, transaction: Transaction, jobs: Sequence[_Job[object]]) -> None:
        try:
            write_all(transaction, functools.partial(_write, jobs))
        except Exception as error:
            user_error = user_error_of(error, self._location)
            if len(jobs) > 1 and (user_error is None or isinstance(user_error, WrongTypeError)):
                for job in jobs:
                    self._commit(transaction, [job])
                return
            for job in jobs:
                job.error = user_error or error


def write_all(transaction: Transaction, write: Callable[[Transaction], T]) -> T:
    """Run `write` in one transaction, which is rolled back if it raises."""
    try:
        with transaction.commits.begun(transaction.connection):
            written = write(transaction)
    except BaseException:
        transaction.texts.rollback()
        raise
    transaction.texts.commit()
    return written


def _write(jobs: Iterable[_Job[object]], transaction: Transaction) -> None:
    kinds: dict[Work[object], list[object]] = {}
    for job in jobs:
        kinds.setdefault(job.work, []).append(job.item)
    for work, items in kinds.items():
        work(transaction, items)


def _announce(jobs: Iterable[_Job[object]]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[_Job[object]]] = {}
    for job in jobs:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, some in by_loop.items():
        # If the event loop has been closed, nothing waits for these jobs.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_resolve, some)


def _resolve(jobs: Iterable[_Job[object]]) -> None:
    for job in jobs:
        if job.done.done():
            continue
        if job.error is None:
            job.done.set_result(None)
        else:
            job.done.set_exception(job.error)


def _nothing(_: Transaction, __: Sequence[None]) -> None:
    """An empty item that `flush` waits for."""
