"""Run units in this process: each goes on its own, and only so many are open at once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


async def run_local(
    units: Iterable[T], work: Callable[[T], Awaitable[None]], *, open_at_once: int
) -> None:
    """Await `work` for every unit, in order of their beginning, `open_at_once` at a time.

    The first exception ends the run: the others are cancelled, and it is raised as it was.
    """
    waiting = iter(units)
    workers = [asyncio.create_task(_drain(waiting, work)) for _ in range(open_at_once)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _drain(waiting: Iterator[T], work: Callable[[T], Awaitable[None]]) -> None:
    for unit in waiting:
        await work(unit)
        # A unit that never had to wait must not keep the loop from everyone else.
        await asyncio.sleep(0)
