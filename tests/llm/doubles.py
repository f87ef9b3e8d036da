"""A recorder in memory, a clock that does not wait, and an Ask over an endpoint or a script."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from recjury.llm import Ask, Budget, Clock, Gateway, Model, Provider, open_model
from recjury.records import Completion, Request, Unit
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, prompt_of

_TAG = re.compile(r'<rating code="(\w+)">')
_KEY = re.compile(r'value "(\w{8})"')


class Memory:
    """Keeps calls in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, Completion] = {}
        self.requests: dict[str, Request] = {}

    async def recall(self, calls: Sequence[str]) -> dict[str, Completion]:
        return {call: self.kept[call] for call in calls if call in self.kept}

    async def record(
        self, done: Sequence[Completion], request: Request, model: str, unit: Unit
    ) -> dict[str, Completion]:
        self.requests |= dict.fromkeys((each.call for each in done), request)
        return {each.call: self.kept.setdefault(each.call, each) for each in done}


class QuickClock(Clock):
    """Waiting takes no time, and is added up."""

    def __init__(self) -> None:
        self.waited = 0.0

    def now(self) -> float:
        return self.waited

    async def sleep(self, seconds: float) -> None:
        self.waited += seconds
        await asyncio.sleep(0)


@asynccontextmanager
async def gateway(
    provider: Provider | Callable[[Model], Provider] = open_model,
    /,
    *,
    memory: Memory | None = None,
    budget: Budget | None = None,
    clock: Clock | None = None,
    **model: Any,
) -> AsyncIterator[Gateway]:
    """A gateway with one model, `main`, that a provider answers."""
    found = Gateway(
        {"main": Model(**{"name": "m", **model})},
        memory or Memory(),
        provider if callable(provider) else lambda _: provider,
        budget=budget,
        clock=clock or QuickClock(),
    )
    try:
        yield found
    finally:
        await found.aclose()


def ask_of(found: Gateway, **fields: Any) -> Ask:
    return Ask(found, Unit("campaign", "conversation", "evaluation"), **fields)


def tag(body: Body, score: object = 3) -> str:
    """A rating with the code that the prompt asks for."""
    return f'<rating code="{_TAG.findall(prompt_of(body))[-1]}">{score}</rating>'


def code(body: Body) -> str:
    """The code that the prompt asks for in an object."""
    return str(_KEY.findall(prompt_of(body))[-1])


def says(text: str, **fields: Any) -> Callable[[Body], Reply]:
    """A reply with this text; `RATING` stands for the tag, `CODE` for an object's code."""

    def answer(body: Body) -> Reply:
        filled = text.replace("RATING", tag(body)) if "RATING" in text else text
        filled = filled.replace("CODE", code(body)) if "CODE" in text else filled
        return Reply(completion(filled, **fields))

    return answer


def in_turn(*answers: Reply | Callable[[Body], Reply]) -> ScriptedEndpoint:
    """A server with these answers, the last one again and again."""
    count = iter(range(10**6))

    def answer(body: Body) -> Reply:
        each = answers[min(next(count), len(answers) - 1)]
        return each if isinstance(each, Reply) else each(body)

    return ScriptedEndpoint(answer)
