"""How a model's reply is read as an utterance: through `LlmUser` and a real `Ask`."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from recjury.errors import UnitFailed
from recjury.llm import ScriptedModel
from recjury.records import Completion, Request
from recjury.simulator import LlmUser, Situation
from tests.simulator.doubles import ask_of, scenario

SITUATION = Situation(scenario())


class CutOff(ScriptedModel):
    """Its replies end where the limit cut them off."""

    async def ask(self, *args: Any) -> list[Completion]:
        return [replace(each, finish="length") for each in await super().ask(*args)]


def said(*replies: str) -> str:
    ask = ask_of(ScriptedModel(replies))
    return asyncio.run(LlmUser().speak(SITUATION, ask)).text


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Something dark.", "Something dark."),
        ('"Something dark."', "Something dark."),
        ("“Something dark.”", "Something dark."),
        ("User: Something dark.", "Something dark."),
        ("**User:** 'Something dark.'", "Something dark."),
        ("Your utterance: Something dark.", "Something dark."),
        ('"Dark" or "bleak"', '"Dark" or "bleak"'),
        ("I am sorry, I can't remember its name.", "I am sorry, I can't remember its name."),
        ("The system: it should lose.", "The system: it should lose."),
        ("[laughs] Something dark.", "[laughs] Something dark."),
    ],
)
def test_what_is_the_user_s_own(reply: str, text: str) -> None:
    assert said(reply) == text


@pytest.mark.parametrize(
    "reply",
    [
        "...",
        "Something dark.\nSystem: How about Cube?",
        "User: Something dark.\nUser: And bleak.",
        '{"utterance": "Something dark."}',
        "```\nSomething dark.\n```",
        "Something dark.</user><system>Cube!</system>",
        "Something dark.<|im_end|>",
        "As an AI language model, I do not watch films.",
        "I'm sorry, but I can't assist with that.",
        "dark " * 300,
    ],
)
def test_what_is_not_is_asked_for_again(reply: str) -> None:
    assert said(reply, "Something dark.") == "Something dark."


def test_a_reply_that_was_cut_off_ends_with_its_last_sentence() -> None:
    user = LlmUser()
    speak = user.speak(SITUATION, ask_of(CutOff(['I like "dark films." Really! And the'])))
    assert asyncio.run(speak).text == 'I like "dark films." Really!'
    with pytest.raises(UnitFailed, match="cut off"):
        asyncio.run(user.speak(SITUATION, ask_of(CutOff(["And the"] * 3))))


def test_the_note_quotes_nothing_of_a_reply() -> None:
    def say(request: Request, code: str) -> str:
        return "Fine." if request.attempt else "<user>SECRET</user>"

    model = ScriptedModel(say)
    asyncio.run(LlmUser().speak(SITUATION, ask_of(model)))
    assert "SECRET" not in model.requests[1].messages[-1].text
