"""Asking, and asking once more."""

import asyncio

import pytest

from recjury.errors import BudgetSpent, CallFailed, ProviderError
from recjury.llm import (
    EndpointSpec,
    Gateway,
    ParsedReply,
    RatedText,
    ScriptedModel,
    gather,
    parse_rating,
    read_reply,
)
from recjury.llm.provider import Completion
from recjury.llm.scripted import Line
from recjury.records import ChatRequest, Message, Reply, Status
from tests.endpoint import ScriptedEndpoint
from tests.llm.doubles import MemoryRecorder, request, spec_of

SPEC = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="m")


def read(reply: Reply) -> RatedText:
    """A rating from 0 to 4."""
    return parse_rating(reply, 0, 4)


def asked(
    *lines: Line,
    attempts: int = 3,
    recorder: MemoryRecorder | None = None,
    question: ChatRequest | None = None,
    spec: EndpointSpec = SPEC,
) -> tuple[ParsedReply[RatedText], ScriptedModel]:
    """What a run gets from asking a script that says these lines."""
    model = ScriptedModel(lines)
    kept = recorder or MemoryRecorder()

    async def run() -> ParsedReply[RatedText]:
        gateway = Gateway({"m": spec}, kept, providers={"m": model}, attempts=attempts)
        return await read_reply(gateway, question or request(), read)

    return asyncio.run(run()), model


def test_a_readable_reply_is_an_answer() -> None:
    answer, model = asked("Good. <rating>3</rating>")
    assert answer.value == RatedText(3, "Good.")
    assert (answer.status, answer.reason) == (Status.SCORED, "")
    assert answer.reply is not None
    assert answer.calls == (answer.reply.call,)
    assert len(model.requests) == 1


def test_the_prompt_says_what_was_wrong_with_the_last_reply() -> None:
    answer, model = asked("<rating>7</rating>", "", "<rating>4</rating>")
    assert answer.value == RatedText(4, "")
    assert len(set(answer.calls)) == 3
    first, second, third = model.requests
    assert [each.attempt for each in model.requests] == [0, 1, 2]
    assert [m.role for m in third.messages] == [m.role for m in second.messages] == ["user"]
    assert second.messages[0].parts[:-1] == third.messages[0].parts[:-1] == first.messages[0].parts
    assert "outside 0 to 4" in second.messages[0].text
    assert "outside 0 to 4" not in third.messages[0].text
    assert "the reply is empty" in third.messages[0].text


def test_the_note_stands_in_the_last_message_of_the_user() -> None:
    said = (Message("user", ("Hi",)), Message("assistant", ("Ho",)))
    question = request()._replace(messages=(Message("system", ("Rate.",)), *said))
    _, model = asked("no", "<rating>4</rating>", question=question)
    assert [m.role for m in model.requests[1].messages] == ["system", "user", "assistant"]
    assert model.requests[1].messages[1].text.startswith("Hi\n\nYour last reply")


@pytest.mark.parametrize(("own", "models"), [(100, None), (None, 100), (None, None)])
def test_a_reply_that_was_cut_off_gets_more_room(own: int | None, models: int | None) -> None:
    cut = Completion("<rating>3", finish_reason="length")
    spec = SPEC.model_copy(update={"max_tokens": models})
    answer, model = asked(
        cut, cut, "<rating>4</rating>", question=request(max_tokens=own), spec=spec
    )
    assert answer.value == RatedText(4, "")
    expected = [None, 8192, 16384] if own is models else [100, 200, 400]
    assert [spec.token_limit(each) for each in model.requests] == expected


def test_three_unreadable_replies_are_no_answer() -> None:
    answer, model = asked("no", "no again", "never")
    assert answer.value is None
    assert answer.status is Status.UNREADABLE
    assert "no <rating>" in answer.reason
    assert len(answer.calls) == 3
    assert answer.reply is not None
    assert answer.reply.text == "never"
    assert len(model.requests) == 3


def test_how_often_is_asked_is_a_setting_of_the_gateway() -> None:
    assert len(asked("no", attempts=1)[1].requests) == 1
    assert asked(*["no"] * 4, "<rating>1</rating>", attempts=5)[0].value == RatedText(1, "")
    with pytest.raises(ValueError, match="at least 1 attempt"):
        asked(attempts=0)


def test_a_later_run_asks_again_and_never_takes_what_could_not_be_used() -> None:
    recorder = MemoryRecorder()
    first, _ = asked("no", "", "<rating>9</rating>", recorder=recorder)
    assert first.value is None
    second, model = asked("nothing", "<rating>3</rating>", recorder=recorder)
    assert second.value == RatedText(3, "")
    assert [each.attempt for each in model.requests] == [3, 4]
    assert second.calls[:3] == first.calls
    assert len(recorder.calls) == 5
    third, model = asked(recorder=recorder)
    assert third.value == second.value
    assert model.requests == []


def test_in_one_run_nothing_is_asked_more_often_than_the_limit() -> None:
    recorder = MemoryRecorder()
    model = ScriptedModel(["no"] * 3)

    async def run() -> list[Status]:
        gateway = Gateway({"m": SPEC}, recorder, providers={"m": model})
        both = await gather(read_reply(gateway, request(), read) for _ in range(2))
        return [each.status for each in (*both, await read_reply(gateway, request(), read))]

    assert asyncio.run(run()) == [Status.UNREADABLE] * 3
    assert len(model.requests) == 3


def test_a_call_that_would_fail_again_is_refused() -> None:
    answer, _ = asked(CallFailed("too long", permanent=True))
    assert (answer.value, answer.status, answer.reason) == (None, Status.REFUSED, "too long")


@pytest.mark.parametrize("failure", [CallFailed("gone"), BudgetSpent("gone")])
def test_a_failed_call_is_a_status(failure: Exception) -> None:
    answer, _ = asked(failure)
    assert (answer.value, answer.status, answer.reason) == (None, Status.CALL_FAILED, "gone")
    later, _ = asked("no", failure)
    assert (later.status, len(later.calls)) == (Status.CALL_FAILED, 1)


def test_what_the_user_must_fix_is_raised() -> None:
    with pytest.raises(ProviderError):
        asked(ProviderError("no such model"))


def test_asking_again_after_a_kill_reuses_both_replies() -> None:
    recorder = MemoryRecorder()

    async def run(spec: EndpointSpec) -> ParsedReply[RatedText]:
        async with Gateway({"m": spec}, recorder) as gateway:
            return await read_reply(gateway, request(), read)

    replies = iter(["no", "<rating>2</rating>"])
    with ScriptedEndpoint(lambda body: next(replies)) as endpoint:
        first = asyncio.run(run(spec_of(endpoint)))
        second = asyncio.run(run(spec_of(endpoint)))
        assert len(endpoint.bodies) == 2
    assert first.value == second.value == RatedText(2, "")
    assert first.calls == second.calls
