"""Calls made at once: in order, and none outlives the failure of another."""

import asyncio

import pytest

from recjury.errors import ProviderError
from recjury.llm import gather


async def _after(turns: int, value: int) -> int:
    for _ in range(turns):
        await asyncio.sleep(0)
    return value


def test_results_come_in_the_order_of_the_work() -> None:
    async def act() -> list[int]:
        return await gather(_after(5 - n, n) for n in range(5))

    assert asyncio.run(act()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("at_once", "most"), [(None, 6), (2, 2), (9, 6)])
def test_so_many_are_open_at_once(at_once: int | None, most: int) -> None:
    open_now: list[int] = []
    widest = 0

    async def job(number: int) -> int:
        nonlocal widest
        open_now.append(number)
        widest = max(widest, len(open_now))
        await _after(3, 0)
        open_now.remove(number)
        return number

    async def act() -> list[int]:
        return await gather((job(number) for number in range(6)), at_once=at_once)

    assert asyncio.run(act()) == list(range(6))
    assert widest == most


def test_a_failure_keeps_its_cause_and_starts_nothing_more() -> None:
    begun: list[int] = []

    async def job(number: int) -> None:
        begun.append(number)
        await asyncio.sleep(0)
        raise ProviderError(f"number {number}") from ValueError("why")

    async def act() -> None:
        await gather((job(number) for number in range(6)), at_once=2)

    with pytest.raises(ProviderError, match="number 0") as caught:
        asyncio.run(act())
    assert isinstance(caught.value.__cause__, ValueError)
    assert begun == [0, 1]


class _Work:
    """Waits for ever unless it is stopped; says so when it has been, after a moment."""

    def __init__(self) -> None:
        self.begun = 0
        self.ended = 0

    async def wait(self) -> None:
        self.begun += 1
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.ended += 1

    async def refuse(self) -> None:
        await asyncio.sleep(0)
        raise ProviderError("no key")


def test_the_first_failure_ends_the_others_before_it_is_raised() -> None:
    async def act() -> _Work:
        work = _Work()
        with pytest.raises(ProviderError, match="no key"):
            await gather([work.wait(), work.refuse(), work.wait()])
        assert len(asyncio.all_tasks()) == 1
        return work

    work = asyncio.run(act())
    assert (work.begun, work.ended) == (2, 2)


def test_cancelling_the_caller_ends_them_all() -> None:
    async def act() -> _Work:
        work = _Work()
        caller = asyncio.ensure_future(gather([work.wait(), work.wait()]))
        await _after(3, 0)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        return work

    work = asyncio.run(act())
    assert (work.begun, work.ended) == (2, 2)


@pytest.mark.parametrize("at_once", [0, -1])
def test_none_at_once_is_a_mistake(at_once: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        asyncio.run(gather(iter([]), at_once=at_once))
