"""Several model calls at once, of which none goes on once one of them has failed for good."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def gather(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in the order of `work`.

    Where one raises, or the caller is cancelled, the others are cancelled and have ended before
    the first exception is raised: nothing is sent, paid for or stored behind the caller's back.
    """
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()  # nothing happens to those that are done
        await asyncio.gather(*tasks, return_exceptions=True)
