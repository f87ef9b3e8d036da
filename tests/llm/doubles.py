"""What the tests of `llm` share: a recorder in memory, a clock that is moved, requests."""

import asyncio
from collections.abc import Callable

from recjury.llm import ModelSpec
from recjury.records import CallRecord, ChatRequest, Message, Reply
from tests.endpoint import ScriptedEndpoint


class MemoryRecorder:
    """Keeps calls in a dict; `before` is awaited before a call counts as kept."""

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
    return _with(plain, fields)


def _with(plain: ChatRequest, fields: dict[str, object]) -> ChatRequest:
    from dataclasses import replace

    return replace(plain, **fields)  # type: ignore[arg-type]


def spec_of(endpoint: ScriptedEndpoint, **fields: object) -> ModelSpec:
    """A model that the endpoint serves."""
    return ModelSpec.model_validate({"base_url": endpoint.url, "name": "scripted", **fields})


def reply(text: str, finish_reason: str = "stop") -> Reply:
    """A reply as a reader gets it."""
    return Reply(call="0" * 32, text=text, finish_reason=finish_reason, model="scripted")


async def until(condition: Callable[[], bool]) -> None:
    """Let others run until the condition holds."""
    for _ in range(100_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")
