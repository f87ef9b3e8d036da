"""Calls are found again, shared, recorded before use, and numbered by what can change them."""

import asyncio
from collections.abc import Sequence

import pytest

from recjury.errors import CallFailed, Refused, Stop, UserError
from recjury.llm import AttemptError, Clock, Gateway, Model, Remedy, ScriptedModel
from recjury.llm.identity import identities
from recjury.records import Completion, Message, RatingShape, Request, Unit
from tests.llm.doubles import Memory, QuickClock, gateway
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, error

HELLO = Request((Message("user", ("Hello.",)),))
UNIT = Unit("campaign", "conversation")


def other(number: int) -> Request:
    return Request((Message("user", (f"Hello {number}.",)),))


def test_identities_are_the_golden_ones() -> None:
    """Other values would make all stored calls unknown: `IDENTITY` has to rise with them."""
    model = Model(name="gpt-4o", base_url="http://x/v1/chat/completions/", concurrency=3)
    settings = model.reply.model_dump(exclude_defaults=True)
    parts = Request((Message("system", ("Be kind.",)), Message("user", ("Rate ", "\x1f."))))
    rating = parts._replace(shape=RatingShape(1, 5), temperature=0.7, purpose="judge", sample=2)
    assert identities(HELLO, {"name": "m"}, 1) == ["9e401ac1e94fca8db840ff1139de4f8b"]
    assert identities(parts, settings, 2) == [
        "46aa086746fed6907717c26197b8e453",
        "6c82eeb4c55fd438e5c300bd1df38344",
    ]
    assert identities(rating, settings, 1) == ["e0c88c65baee5e9067305a01e4c6b050"]


def test_only_what_can_change_a_reply_is_in_an_identity() -> None:
    def settings(**fields: object) -> dict[str, object]:
        model = Model.model_validate({"name": "m"} | fields)
        return model.reply.model_dump(exclude_defaults=True)

    (same,) = identities(HELLO, settings(), 1)
    limits = settings(concurrency=1, patience=1, refuses=["n"], price_in=1, timeout=3)
    assert identities(HELLO._replace(purpose="judge"), limits, 1) == [same]
    changed = [
        identities(HELLO, settings(temperature=1), 1),
        identities(HELLO, settings(extra={"top_k": 1}), 1),
        identities(HELLO._replace(max_tokens=5), settings(), 1),
        identities(HELLO._replace(attempt=1), settings(), 1),
        identities(HELLO._replace(draw=1), settings(), 1),
        identities(Request((Message("system", ("Hello.",)),)), settings(), 1),
    ]
    assert len({same, *(call for calls in changed for call in calls)}) == len(changed) + 1


async def _draw(opened: Gateway, request: Request = HELLO, draws: int = 1) -> list[str]:
    return [each.text for each in await opened.draws(request, "main", UNIT, draws)]


def test_equal_open_calls_are_one_and_stored_ones_are_found() -> None:
    async def run() -> None:
        model, memory = ScriptedModel(["Hi.", "Hi again."], delay=0.01), Memory()
        async with gateway(model, memory=memory) as opened:
            assert await asyncio.gather(*(_draw(opened) for _ in range(3))) == [["Hi."]] * 3
            assert await _draw(opened) == ["Hi."]
            assert (opened.sent, opened.reused) == (1, 1)
            assert await _draw(opened, draws=2) == ["Hi.", "Hi again."]
        async with gateway(ScriptedModel([]), memory=memory) as later:
            assert await _draw(later, draws=2) == ["Hi.", "Hi again."]

    asyncio.run(run())


def test_several_draws_are_one_request_where_the_endpoint_takes_n() -> None:
    def answer(body: Body) -> Reply:
        first = completion("Hi.")
        return Reply(first | {"choices": first["choices"] * body.get("n", 1)})

    def one_alone(body: Body) -> Reply:
        return error(400, "Only n=1 is supported", param="n") if "n" in body else answer(body)

    async def run(say: object, requests: list[int]) -> None:
        async with ScriptedEndpoint(say) as server:  # type: ignore[arg-type]
            async with gateway(base_url=server.url) as opened:
                done = await opened.draws(HELLO, "main", UNIT, 3)
            assert len({each.call for each in done}) == 3
            assert [asked.body.get("n", 1) for asked in server.asked] == requests
            counted = 10 if len(requests) == 1 else 30
            assert sum(each.tokens_in or 0 for each in done) == counted

    asyncio.run(run(answer, [3]))
    asyncio.run(run(one_alone, [3, 1, 1, 1]))


def test_a_reply_is_recorded_before_it_is_used() -> None:
    class Full(Memory):
        async def record(
            self, done: Sequence[Completion], request: Request, model: str, unit: Unit
        ) -> dict[str, Completion]:
            raise Stop("the disk is full")

    async def run() -> None:
        async with gateway(ScriptedModel(["Hi."]), memory=Full()) as opened:
            with pytest.raises(Stop, match="disk"):
                await _draw(opened)

    asyncio.run(run())


def test_what_another_process_recorded_first_counts() -> None:
    class Other(Memory):
        async def record(
            self, done: Sequence[Completion], request: Request, model: str, unit: Unit
        ) -> dict[str, Completion]:
            return {each.call: Completion("First.", each.call) for each in done}

    async def run() -> None:
        async with gateway(ScriptedModel(["Hi."]), memory=Other()) as opened:
            assert await _draw(opened) == ["First."]

    asyncio.run(run())


def test_a_call_goes_on_if_the_one_who_waits_is_ended() -> None:
    async def run() -> None:
        memory = Memory()
        async with gateway(ScriptedModel(["Hi."], delay=0.02), memory=memory) as opened:
            waiting = asyncio.create_task(_draw(opened))
            await asyncio.sleep(0.01)
            waiting.cancel()
        assert [each.text for each in memory.kept.values()] == ["Hi."]

    asyncio.run(run())


def test_closing_sends_nothing_more() -> None:
    async def run() -> None:
        model, memory = ScriptedModel(lambda request, code: "Hi.", delay=0.02), Memory()
        async with gateway(model, memory=memory, concurrency=2) as opened:
            waiting = [asyncio.create_task(_draw(opened, other(n))) for n in range(9)]
            await asyncio.sleep(0.01)
        assert len(model.requests) == len(memory.kept) == 2
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(run())


def test_closing_gives_up_what_would_be_sent_again() -> None:
    def down(request: Request, code: str) -> str:
        raise AttemptError(Remedy("again", "down", wait=300))

    async def run() -> None:
        async with gateway(ScriptedModel(down), clock=Clock()) as opened:
            waiting = asyncio.create_task(_draw(opened))
            await asyncio.sleep(0.01)
        assert waiting.cancelled() or waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(run())


@pytest.mark.parametrize(("others", "comes"), [(20, CallFailed), (0, Stop)])
def test_patience_ends_the_unit_or_if_nobody_is_answered_the_run(
    others: int, comes: type[Exception]
) -> None:
    clock = QuickClock()

    def say(request: Request, code: str) -> str:
        if request == HELLO:
            raise AttemptError(Remedy("again", "down"))
        return "Hi."

    async def run() -> None:
        async with gateway(ScriptedModel(say), clock=clock, patience=100) as opened:
            waiting = asyncio.create_task(_draw(opened))
            for number in range(others):
                await _draw(opened, other(number))
            with pytest.raises(comes, match="m: down"):
                await waiting

    asyncio.run(run())
    assert 50 < clock.waited <= 100


def test_an_address_where_nothing_ever_answered_is_given_up_sooner() -> None:
    async def run() -> None:
        clock = QuickClock()
        async with gateway(base_url="http://127.0.0.1:1/v1", clock=clock) as opened:
            with pytest.raises(Stop, match=r"127\.0\.0\.1"):
                await _draw(opened)
        assert clock.waited <= 30

    asyncio.run(run())


def test_an_unknown_refusal_is_about_the_call_once_others_were_answered() -> None:
    def answer(body: Body) -> Reply:
        bad = body["messages"][0]["content"] == "Hello."
        return error(400, "I do not like it") if bad else Reply(completion("Hi."))

    async def run() -> None:
        async with (
            ScriptedEndpoint(answer) as server,
            gateway(base_url=server.url) as opened,
        ):
            await _draw(opened, other(1))
            with pytest.raises(Refused, match="I do not like it"):
                await _draw(opened)
            assert len(server.asked) == 4

    asyncio.run(run())


def test_a_model_that_is_not_there_and_a_key_that_is_missing() -> None:
    async def run() -> None:
        async with gateway(key_env="NO_SUCH_KEY") as opened:
            with pytest.raises(UserError, match=r"'mian' \(did you mean main\?\)"):
                await opened.draws(HELLO, "mian", UNIT)
            with pytest.raises(UserError, match="NO_SUCH_KEY"):
                await _draw(opened)

    asyncio.run(run())
