"""How many calls are open, and what happens when an endpoint refuses some for their rate."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from recjury.errors import Stop
from recjury.llm import Remedy
from recjury.llm.limiter import Limiter
from recjury.records import Message, Request, Unit
from tests.llm.doubles import QuickClock, gateway
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, error

TOO_FAST = Remedy("again", "429", rate_limited=True)


def test_no_more_are_open_than_allowed() -> None:
    async def run() -> None:
        limiter, open_, most = Limiter(3), 0, 0

        async def call() -> None:
            nonlocal open_, most
            async with limiter.turn():
                open_ += 1
                most = max(most, open_)
                await asyncio.sleep(0.001)
                open_ -= 1

        await asyncio.gather(*(call() for _ in range(20)))
        assert most == 3

    asyncio.run(run())


@pytest.mark.parametrize("rate", [7, 53, 55, 59, 61])
def test_any_rate_lets_a_call_through(rate: int) -> None:
    async def turn() -> int:
        async with Limiter(1, requests_per_minute=rate).turn() as number:
            return number

    assert asyncio.run(turn()) == 1


def test_refusals_of_one_episode_halve_once_and_good_calls_raise_again() -> None:
    async def run() -> None:
        limiter = Limiter(16, clock=QuickClock())
        async with AsyncExitStack() as open_:
            turns = [await open_.enter_async_context(limiter.turn()) for _ in range(16)]
            for turn in turns:
                limiter.slow(TOO_FAST, turn)
            assert limiter.limit == 8
        async with limiter.turn() as turn:
            limiter.slow(TOO_FAST, turn)
        assert limiter.limit == 4
        for _ in range(5):
            limiter.answered()
        assert 5 <= limiter.limit < 6
        for _ in range(500):
            limiter.answered()
        assert limiter.limit == 16

    asyncio.run(run())


def test_failures_do_not_raise_the_limit() -> None:
    async def run() -> None:
        limiter = Limiter(8)
        async with limiter.turn() as turn:
            limiter.slow(TOO_FAST, turn)
        for _ in range(50):
            async with limiter.turn():
                pass
        assert limiter.limit == 4

    asyncio.run(run())


def test_a_turn_that_is_ended_while_it_waits_takes_no_place() -> None:
    async def run() -> None:
        limiter = Limiter(2, tokens_per_minute=100)

        async def call(tokens: int) -> None:
            async with limiter.turn(tokens):
                pass

        await call(100)
        waiting = [asyncio.create_task(call(100)) for _ in range(2)]
        await asyncio.sleep(0.01)
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        async with asyncio.timeout(1), limiter.turn(0) as number:
            assert number == 2, "the two that were cancelled never began"

    asyncio.run(run())


@pytest.mark.parametrize(("requests", "tokens"), [(1, None), (None, 100)])
def test_rates_hold_calls_back(requests: int | None, tokens: int | None) -> None:
    async def run() -> None:
        limiter = Limiter(8, requests_per_minute=requests, tokens_per_minute=tokens)
        async with limiter.turn(tokens=1000):
            pass
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), limiter.turn(tokens=1000):
                pass

    asyncio.run(run())


@pytest.mark.parametrize(
    ("header", "at_least", "at_most"),
    [("7", 7, 14), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.25, 1), ("0", 0.25, 1), ("soon", 0.25, 1)],
)
def test_retry_after_pauses_all(header: str, at_least: float, at_most: float) -> None:
    """Two calls, one after the other: the second one waits as well, and not much longer."""
    clock, refusals = QuickClock(), iter([True])

    def answer(body: Body) -> Reply:
        if next(refusals, False):
            return error(429, "Slow down", {"Retry-After": header})
        return Reply(completion("Hi."))

    async def run() -> None:
        async with (
            ScriptedEndpoint(answer) as server,
            gateway(base_url=server.url, clock=clock, concurrency=1) as opened,
        ):
            requests = [Request((Message("user", (text,)),)) for text in "ab"]
            await asyncio.gather(*(opened.draws(each, "main", Unit()) for each in requests))

    asyncio.run(run())
    assert at_least <= clock.waited <= at_most


def test_a_wait_beyond_patience_holds_nobody_up() -> None:
    clock = QuickClock()

    async def run() -> None:
        tomorrow = error(429, "Daily limit", {"Retry-After": "36000"})
        async with (
            ScriptedEndpoint(lambda body: tomorrow) as server,
            gateway(base_url=server.url, clock=clock) as opened,
        ):
            for text in "ab":
                with pytest.raises(Stop, match="Daily limit"):
                    await opened.draws(Request((Message("user", (text,)),)), "main", Unit())

    asyncio.run(run())
    assert clock.waited == 0
