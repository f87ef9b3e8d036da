"""Faults of five kinds, mixed: every call comes through, and none that was answered is repeated."""

import asyncio
import itertools

import pytest

from recjury.llm import Backoff, Gateway
from tests.endpoint import Answer, Body, Fault, ScriptedEndpoint, completion
from tests.llm.doubles import MemoryRecorder, request, spec_of

FAULTS = (
    Fault("status", 429, "slow down"),
    Fault("status", 500, "the worker failed"),
    Fault("drop"),
    Fault("raw", text='{"choices": [{"message": {"content": "<rating>3'),
    Fault("hang"),
)
CALLS = 400


@pytest.mark.slow
def test_every_call_comes_through_and_no_answered_one_is_sent_again() -> None:
    number, kinds = itertools.count(1), itertools.cycle(FAULTS)
    answered: list[str] = []

    def script(body: Body) -> Answer:
        if next(number) % 20 == 0:
            return next(kinds)
        answered.append(str(body["messages"]))
        return completion("<rating>3</rating>")

    async def run(endpoint: ScriptedEndpoint) -> int:
        recorder = MemoryRecorder()
        async with Gateway(
            {"m": spec_of(endpoint, timeout=8.0)},
            recorder,
            backoff=Backoff(first=0.02, longest=0.2),
        ) as gateway:
            calls = (gateway.complete(request(str(n))) for n in range(CALLS))
            replies = await asyncio.gather(*calls)
        assert {reply.text for reply in replies} == {"<rating>3</rating>"}
        return len(recorder.calls)

    with ScriptedEndpoint(script, latency=0.005, in_form=False) as endpoint:
        assert asyncio.run(run(endpoint)) == CALLS
        sent = len(endpoint.bodies)
    assert len(answered) == len(set(answered)) == CALLS
    assert sent >= CALLS * 1.04
