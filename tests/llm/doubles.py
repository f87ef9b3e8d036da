"""What the tests of `llm` share: a recorder in memory, a clock that is moved, requests."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from recjury.errors import ProviderError
from recjury.llm import EndpointSpec
from recjury.records import CallRecord, ChatRequest, Message, Reply
from tests.endpoint import ScriptedEndpoint


class MemoryRecorder:
    """Keeps calls in a dict; `before` is awaited before a call counts as kept."""

    secret = b"of a test"

    def __init__(self) -> None:
        self.calls: dict[str, CallRecord] = {}
        self.gate: asyncio.Event | None = None

    async def recall(self, identity: str) -> Reply | None:
        """The kept reply."""
        kept = self.calls.get(identity)
        return None if kept is None else kept.reply

    async def record(self, call: CallRecord) -> None:
        """Keep the call, once the gate is open."""
        if self.gate is not None:
            await self.gate.wait()
        assert call.identity not in self.calls
        self.calls[call.identity] = call


class FakeClock:
    """Sleeps take no time but move the clock; all waits are listed."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.waits: list[float] = []

    def now(self) -> float:
        """The clock's time."""
        return self.time

    def wall(self) -> float:
        """The same, as wall time."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Move the clock; others may run."""
        self.waits.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


def request(text: str = "Rate this.", **fields: object) -> ChatRequest:
    """A request to the model `m`."""
    plain = ChatRequest("m", (Message("user", (text,)),), "test")
    return plain._replace(**fields)  # type: ignore[arg-type]


def spec_of(endpoint: ScriptedEndpoint, **fields: object) -> EndpointSpec:
    """A model that the endpoint serves."""
    return EndpointSpec.model_validate({"base_url": endpoint.url, "name": "scripted", **fields})


def reply(text: str, finish_reason: str = "stop", code: str = "") -> Reply:
    """A reply as a reader gets it; `code` is the one that its prompt asked for."""
    return Reply("0" * 32, text, finish_reason, "scripted", code=code)


async def until(condition: Callable[[], bool]) -> None:
    """Let others run until the condition holds."""
    for _ in range(100_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")


class OneRefuses:
    """A gateway or an endpoint that turns one call down, while the others never end by themselves.

    `open` are the calls that nobody has ended; the second one is turned down.
    """

    def __init__(self) -> None:
        self.asked = 0
        self.open = 0

    async def complete(self, request: ChatRequest) -> Any:
        """Wait to be ended, or refuse."""
        self.asked += 1
        if self.asked == 2:
            await asyncio.sleep(0)
            raise ProviderError("no key")
        self.open += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.open -= 1
        raise AssertionError("nobody sets the event")

    async def check(self) -> None:
        """As a provider."""

    async def aclose(self) -> None:
        """As a provider."""


def asked_and_left_open(
    act: Callable[[OneRefuses], Coroutine[Any, Any, object]], model: OneRefuses | None = None
) -> tuple[int, int]:
    """How many calls `act` made until the refusal of the second one ended it, and how many of them
    outlive that."""

    async def run(model: OneRefuses) -> tuple[int, int]:
        with pytest.raises(ProviderError, match="no key"):
            await act(model)
        return model.asked, model.open

    return asyncio.run(run(model or OneRefuses()))
