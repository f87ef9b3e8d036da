"""Many coroutines, some at a time: a step may have tens of thousands of calls to make."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_AT_A_TIME = 256


async def gathered(
    jobs: Iterable[Coroutine[Any, Any, T]], *, at_a_time: int = _AT_A_TIME
) -> list[T]:
    """Results in the order of `jobs`, which are made as they are started.

    The first exception ends all and is raised.
    """
    results: dict[int, T] = {}
    queue = enumerate(jobs)

    async def worker() -> None:
        for place, job in queue:
            results[place] = await job

    tasks = [asyncio.create_task(worker()) for _ in range(at_a_time)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [results[place] for place in range(len(results))]
