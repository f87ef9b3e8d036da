"""Several samples of one request, whatever the endpoint makes of `n`."""

import asyncio

import pytest

from recjury.errors import CallFailed
from recjury.llm import Gateway, Samples, ScriptedModel, call_identity, parse_rating, sample_replies
from recjury.llm.provider import Completion
from recjury.llm.scripted import Line
from recjury.records import ChatRequest, Choice, Reply, Status
from tests.endpoint import Body, ScriptedEndpoint, completion
from tests.llm.doubles import (
    MemoryRecorder,
    OneRefuses,
    asked_and_left_open,
    reply,
    request,
    spec_of,
)
from tests.llm.test_reply_reading import SPEC


def _several(body: Body, most: int = 99) -> Body:
    """As many choices as are asked for, at most `most`: the ratings 0, 1, 2, ..."""
    asked = body.get("n", 1)
    assert isinstance(asked, int)
    answer = completion(None)
    answer["choices"] = [
        {"index": i, "message": {"content": f"<rating>{i}</rating>"}, "finish_reason": "stop"}
        for i in range(min(asked, most))
    ]
    return answer


def _sampled(endpoint: ScriptedEndpoint, *, together: bool = True) -> Samples[int]:
    async def run() -> Samples[int]:
        async with Gateway({"m": spec_of(endpoint)}, MemoryRecorder()) as gateway:
            return await sample_replies(
                gateway,
                request(temperature=0.6),
                4,
                lambda reply: parse_rating(reply, 0, 4).score,
                together=together,
            )

    return asyncio.run(run())


def test_one_request_brings_all_samples() -> None:
    with ScriptedEndpoint(_several) as endpoint:
        found = _sampled(endpoint)
        assert found.values == (0, 1, 2, 3)
        assert (found.status, len(found.calls)) == (Status.SCORED, 1)
        assert [body["n"] for body in endpoint.bodies] == [4]


def test_what_an_endpoint_leaves_out_is_asked_for_one_by_one() -> None:
    with ScriptedEndpoint(lambda body: _several(body, 1)) as endpoint:
        found = _sampled(endpoint)
        assert found.values == (0, 0, 0, 0)
        assert len(set(found.calls)) == 4
        assert [body.get("n") for body in endpoint.bodies] == [4, None, None, None]


def test_each_sample_can_be_a_call_of_its_own() -> None:
    with ScriptedEndpoint(_several) as endpoint:
        assert _sampled(endpoint, together=False).values == (0, 0, 0, 0)
        assert [body.get("n") for body in endpoint.bodies] == [None] * 4


def _scripted(*lines: Line) -> tuple[Samples[int], list[ChatRequest]]:
    model = ScriptedModel(lines)

    async def run() -> Samples[int]:
        gateway = Gateway({"m": SPEC}, MemoryRecorder(), providers={"m": model})
        return await sample_replies(gateway, request(), 3, lambda r: parse_rating(r, 0, 4).score)

    return asyncio.run(run()), model.requests


GOOD, BAD = "<rating>2</rating>", "<rating>9</rating>"


def test_a_sample_that_cannot_be_read_is_drawn_again() -> None:
    first = Completion(GOOD, further=(Choice(BAD, "stop"), Choice(GOOD, "length")))
    found, requests = _scripted(first, "<rating>1</rating>", "none", "none")
    assert found.values == (2, 1, None)
    assert found.read == (2, 1)
    assert found.status is Status.SCORED
    assert found.reason == "no <rating> from 0 to 4 was given"
    asked = [(r.n, r.sample, r.attempt, r.room) for r in requests]
    assert asked == [(3, 0, 0, 1), (1, 1, 1, 1), (1, 2, 1, 2), (1, 2, 2, 2)]
    assert {r.messages for r in requests} == {request().messages}
    assert len(set(found.calls)) == 4


def test_without_a_readable_sample_there_is_none() -> None:
    first = Completion(BAD, further=(Choice(BAD, "stop"), Choice(BAD, "stop")))
    found, requests = _scripted(first, *[BAD] * 6)
    assert (found.values, found.status) == ((None,) * 3, Status.UNREADABLE)
    assert "outside 0 to 4" in found.reason
    assert len(requests) == 7


def test_one_sample_that_is_refused_does_not_take_the_others() -> None:
    first = Completion(GOOD, further=(Choice(BAD, "stop"), Choice(GOOD, "stop")))
    found, _ = _scripted(first, CallFailed("filtered", permanent=True))
    assert (found.values, found.status) == ((2, None, 2), Status.SCORED)


def test_a_call_that_fails_gives_no_value_at_all() -> None:
    found, _ = _scripted(CallFailed("gone"))
    assert (found.values, found.status, found.reason) == (
        (None,) * 3,
        Status.CALL_FAILED,
        "gone",
    )


@pytest.mark.parametrize("n", [2, 5])
def test_how_many_are_asked_for_is_a_part_of_the_identity(n: int) -> None:
    assert call_identity(request()._replace(n=n), SPEC) != call_identity(request(), SPEC)
    assert call_identity(request()._replace(n=n), SPEC) != call_identity(
        request()._replace(n=n + 1), SPEC
    )


def test_no_sample_outlives_the_refusal_of_another() -> None:
    alone = asked_and_left_open(
        lambda model: sample_replies(model, request(), 3, lambda reply: reply.text, together=False)
    )
    assert alone == (3, 0)


def test_no_sample_that_is_drawn_once_more_outlives_the_refusal_of_another() -> None:
    class Unread(OneRefuses):
        """Three samples that cannot be read, before all of that."""

        async def complete(self, request: ChatRequest) -> Reply:
            if request.n > 1:
                return reply(BAD)._replace(further=(Choice(BAD, "stop"),) * 2)
            answer: Reply = await super().complete(request)
            return answer

    again = asked_and_left_open(
        lambda model: sample_replies(model, request(), 3, lambda r: parse_rating(r, 0, 4).score),
        Unread(),
    )
    assert again == (3, 0)
