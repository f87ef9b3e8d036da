"""Several samples of one request: together where the endpoint can, one by one where it cannot."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from recjury.errors import UnitFailed, Unreadable
from recjury.llm.ask import Completes
from recjury.records import ChatRequest, Reply, Status

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Samples(Generic[T]):
    """What was read of each sample, in order; None where it could not be read, asked again.

    `status` is SCORED where at least one could be read; else it and `reason` say why none was.
    `reason` is that of the last sample that could not be read. `calls` are all calls made.
    """

    values: tuple[T | None, ...]
    status: Status
    reason: str
    calls: tuple[str, ...]

    @property
    def read(self) -> tuple[T, ...]:
        """The values that are there."""
        return tuple(value for value in self.values if value is not None)


async def sample(
    gateway: Completes,
    request: ChatRequest,
    n: int,
    read: Callable[[Reply], T],
    *,
    together: bool = True,
) -> Samples[T]:
    """`n` samples of `request`, each as `read` makes of it.

    `together` sends one request for all; what an endpoint then leaves out is asked for one by
    one. A sample that `read` refuses (Unreadable) is asked for once more, as a fresh sample.
    A call that fails, or that the budget does not cover, gives the status CALL_FAILED and no
    value at all. Never raises UnitFailed.
    """
    try:
        replies = await _replies(gateway, request, n, together=together)
        values, reason = _read_all(replies, read)
        again = [number for number, value in enumerate(values) if value is None]
        if again:
            fresh = await _each(gateway, request, [n + number for number in again])
            others, reason = _read_all(fresh, read)
            for number, value in zip(again, others, strict=True):
                values[number] = value
            replies = (*replies, *fresh)
    except UnitFailed as failure:
        return Samples((None,) * n, Status.CALL_FAILED, str(failure), ())
    calls = tuple(dict.fromkeys(reply.call for reply in replies))
    is_read = any(value is not None for value in values)
    return Samples(tuple(values), Status.SCORED if is_read else Status.UNREADABLE, reason, calls)


async def _replies(
    gateway: Completes, request: ChatRequest, n: int, *, together: bool
) -> tuple[Reply, ...]:
    first: tuple[Reply, ...] = ()
    if together and n > 1:
        first = (await gateway.complete(replace(request, n=n))).each()[:n]
    return (*first, *await _each(gateway, request, range(len(first), n)))


async def _each(
    gateway: Completes, request: ChatRequest, numbers: Sequence[int]
) -> tuple[Reply, ...]:
    if not numbers:
        return ()
    calls = (gateway.complete(replace(request, sample=number)) for number in numbers)
    return tuple(await asyncio.gather(*calls))


def _read_all(replies: Sequence[Reply], read: Callable[[Reply], T]) -> tuple[list[T | None], str]:
    values: list[T | None] = []
    reason = ""
    for reply in replies:
        try:
            values.append(read(reply))
        except Unreadable as problem:
            values.append(None)
            reason = str(problem)
    return values, reason
