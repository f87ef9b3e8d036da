"""The event loop that calls run on, its clock, and how concurrent tasks are gathered."""

import asyncio
import gc
import time
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

# The garbage collector's thresholds: objects allocated between two collections, and collections
# of one generation before the next one is included. With Python's own (700, 10, 10) a run spends
# a sixth of its time searching a heap in which a call leaves no garbage.
_RARE_COLLECTIONS = (10_000, 20, 50)


class Clock(Protocol):
    """The time in seconds. It is an argument, so that tests need not wait."""

    def now(self) -> float:
        """A monotonic time: only differences are meaningful."""

    def wall(self) -> float:
        """Seconds since 1970."""

    async def sleep(self, seconds: float) -> None:
        """Wait; other tasks run meanwhile."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """A monotonic time: only differences are meaningful."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait; other tasks run meanwhile."""
        await asyncio.sleep(seconds)


async def gather(
    work: Iterable[Coroutine[Any, Any, T]], *, at_once: int | None = None, keep: bool = True
) -> list[T]:
    """Run `work` concurrently, at most `at_once` at a time; the results are in the order of `work`.

    If one fails or the caller is cancelled, the others are cancelled and have ended before the
    exception is raised, so nothing is sent, paid for or stored afterwards. The first failure is
    raised itself, not in an ExceptionGroup. With `at_once`, coroutines are taken from `work` when
    they can start; without `keep`, their results are dropped, and none is returned. Raises
    ValueError for an `at_once` below 1.
    """
    if at_once is not None and at_once < 1:
        raise ValueError(f"at_once must be at least 1, got {at_once}")
    failed: BaseException
    try:
        async with asyncio.TaskGroup() as group:
            if at_once is None:
                tasks = [group.create_task(each) for each in work]
            else:
                results: dict[int, T] = {}
                queue = enumerate(work)
                for _ in range(at_once):
                    group.create_task(_drain(queue, results if keep else None))
    except BaseExceptionGroup as failures:
        failed = failures.exceptions[0]
    else:
        if at_once is None:
            return [task.result() for task in tasks]
        return [results[place] for place in range(len(results))]
    raise failed


async def _drain(
    queue: Iterator[tuple[int, Coroutine[Any, Any, T]]], results: dict[int, T] | None
) -> None:
    for place, each in queue:
        result = await each
        if results is not None:
            results[place] = result
        # Work that never waits must not block the other tasks.
        await asyncio.sleep(0)


@contextmanager
def event_loop() -> Iterator[asyncio.Runner]:
    """A runner on uvloop, if it is available, with a garbage collector that runs rarely.

    Existing objects are excluded from collections, which would pause all open calls. On exit the
    collector has its former settings.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_RARE_COLLECTIONS)
    try:
        with _runner() as runner:
            yield runner
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _runner() -> asyncio.Runner:
    try:
        import uvloop
    except ImportError:  # not available on Windows
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)
