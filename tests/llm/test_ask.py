"""Asking, and asking once more."""

import asyncio

import pytest

from recjury.errors import BudgetSpent, CallFailed, ProviderError
from recjury.llm import Gateway, ModelSpec, ParsedReply, RatedText, ScriptedModel, ask, parse_rating
from recjury.llm.scripted import Line
from recjury.records import Reply, Status
from tests.endpoint import ScriptedEndpoint
from tests.llm.doubles import MemoryRecorder, request, spec_of

SPEC = ModelSpec(base_url="http://127.0.0.1:1/v1", name="m")


def read(reply: Reply) -> RatedText:
    """A rating from 0 to 4."""
    return parse_rating(reply, 0, 4)


def asked(*lines: Line, attempts: int = 2) -> tuple[ParsedReply[RatedText], ScriptedModel]:
    """What asking a script that says these lines gives."""
    model = ScriptedModel(lines)

    async def run() -> ParsedReply[RatedText]:
        gateway = Gateway({"m": SPEC}, MemoryRecorder(), providers={"m": model})
        return await ask(gateway, request(), read, attempts=attempts)

    return asyncio.run(run()), model


def test_a_readable_reply_is_an_answer() -> None:
    answer, model = asked("Good. <rating>3</rating>")
    assert answer.value == RatedText(3, "Good.")
    assert (answer.status, answer.reason) == (Status.SCORED, "")
    assert answer.reply is not None
    assert answer.calls == (answer.reply.call,)
    assert len(model.requests) == 1


def test_an_unreadable_reply_is_shown_to_the_model_with_what_was_wrong() -> None:
    answer, model = asked("<rating>7</rating>", "<rating>4</rating>")
    assert answer.value == RatedText(4, "")
    assert len(set(answer.calls)) == 2
    first, second = model.requests
    assert [m.role for m in second.messages] == ["user", "assistant", "user"]
    assert second.messages[0] == first.messages[0]
    assert second.messages[1].text == "<rating>7</rating>"
    assert "outside 0 to 4" in second.messages[2].text


def test_an_empty_reply_is_not_shown() -> None:
    _, model = asked("", "<rating>4</rating>")
    assert [m.role for m in model.requests[1].messages] == ["user", "user"]


def test_two_unreadable_replies_are_no_answer() -> None:
    answer, model = asked("no", "no again")
    assert answer.value is None
    assert answer.status is Status.UNREADABLE
    assert "no <rating>" in answer.reason
    assert len(answer.calls) == 2
    assert answer.reply is not None
    assert answer.reply.text == "no again"
    assert len(model.requests) == 2


def test_how_often_is_asked_can_be_said() -> None:
    assert len(asked("no", attempts=1)[1].requests) == 1
    assert asked("no", "no", "<rating>1</rating>", attempts=3)[0].value == RatedText(1, "")


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

    async def run(spec: ModelSpec) -> ParsedReply[RatedText]:
        async with Gateway({"m": spec}, recorder) as gateway:
            return await ask(gateway, request(), read)

    replies = iter(["no", "<rating>2</rating>"])
    with ScriptedEndpoint(lambda body: next(replies)) as endpoint:
        first = asyncio.run(run(spec_of(endpoint)))
        second = asyncio.run(run(spec_of(endpoint)))
        assert len(endpoint.bodies) == 2
    assert first.value == second.value == RatedText(2, "")
    assert first.calls == second.calls
