"""Systems under test: one callable over a conversation, however it was written."""

import asyncio
import contextlib
import copy
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, Self

from recjury.agents.reply import Reply
from recjury.agents.settings import SystemSettings
from recjury.corpora import Catalogue
from recjury.errors import BatchPending, SystemFailed, UnitFailed, UserError
from recjury.keys import one_line
from recjury.llm import Ask, in_thread
from recjury.logs import logger
from recjury.records import Conversation, Event, SystemReply, Turn, digest

SystemAnswer = str | SystemReply | AsyncIterator[str | Event] | Iterator[str | Event]

_TURN = 120.0  # seconds
_TURN_WITH_ASK = 3600.0  # seconds: calls wait for their turn, and are sent again for minutes
_CLOSING = 10.0  # seconds for `end` and `aclose`, whose outcome changes nothing


class System(Protocol):
    """What has to be written to connect a system: a function, or an object with `respond`.

    It is given the conversation so far and returns its next turn: a text, in which recjury
    searches for names of items; a SystemReply, which has the items as a list; or, as a generator,
    texts and Events piece by piece. It may be a plain function, which runs in a thread of its own,
    or an async one, which must not block.

    `ask` is passed only if the signature names it: its calls to the campaign's models are kept and
    counted in the budget. Three methods are optional: `start(conversation)` and
    `end(conversation)` open and close a conversation, known by its `id`, and `aclose()` ends all.
    """

    def respond(
        self, conversation: Conversation, ask: Ask
    ) -> SystemAnswer | Awaitable[SystemAnswer]:
        """The system's next turn. What it raises fails the conversation."""


class LoadedSystem:
    """A system with a name, a version and limits: what a session talks with."""

    def __init__(self, system: Any, catalogue: Catalogue, settings: SystemSettings, version: str):
        """`version` is a digest of all that can change what the system says."""
        self.name, self.settings, self.version = settings.title, settings, version
        self.system, self._catalogue, self._link = system, catalogue, settings.links
        self._respond: Callable[..., object] = getattr(system, "respond", None) or system
        self._wants_ask = "ask" in parameters(self._respond)
        self._timeout = settings.timeout or (_TURN_WITH_ASK if self._wants_ask else _TURN)
        open_ = settings.concurrency
        self._places = asyncio.Semaphore(open_) if open_ else None

    def labelled(self, label: str) -> Self:
        """The system as another version, for one that changed where recjury cannot see it."""
        if not label:
            return self
        other = copy.copy(self)
        other.version = digest(self.version, label)
        return other

    def shares_places_with(self, other: "LoadedSystem") -> None:
        """Count open conversations together: it is one system, over another corpus."""
        self._places = other._places

    def place(self) -> AbstractAsyncContextManager[Any]:
        """Wait until one more conversation may be open, and hold its place."""
        return self._places or contextlib.nullcontext()

    async def start(self, conversation: Conversation) -> None:
        """Open a conversation. Raises SystemFailed."""
        await self._optional("start", self._timeout, conversation)

    async def turn(self, conversation: Conversation, ask: Ask) -> Turn:
        """The system's next turn; a failed one has the reason. Raises Stop and BatchPending."""
        arguments = (conversation, ask) if self._wants_ask else (conversation,)
        before = len(ask.calls)
        try:
            turn = self._turn(await self._within(self._timeout, self._respond, *arguments))
        except BatchPending:
            raise
        except UnitFailed as failure:
            turn = Turn(speaker="system", failure=one_line(str(failure)))
        return turn.model_copy(update={"calls": tuple(ask.calls[before:])})

    async def end(self, conversation: Conversation) -> None:
        """Close a conversation. A failure is logged: what was said stands."""
        await self._last("end", conversation)

    async def aclose(self) -> None:
        """Close the system. A failure is logged."""
        await self._last("aclose")

    def _turn(self, answer: object) -> Turn:
        reply = answer if isinstance(answer, Reply) else Reply()
        if reply is not answer:
            reply.add(answer)
        link = self._link if self._link is not None else not reply.listed
        return reply.turn(self._catalogue, link=link)

    async def _last(self, name: str, *arguments: object) -> None:
        try:
            await self._optional(name, _CLOSING, *arguments)
        except UnitFailed as failure:
            logger.warning(f"{name} failed", system=self.name, reason=one_line(str(failure)))

    async def _optional(self, name: str, seconds: float, *arguments: object) -> None:
        method = getattr(self.system, name, None)
        if method is not None:
            await self._within(seconds, method, *arguments)

    async def _within(
        self, seconds: float, function: Callable[..., object], *arguments: object
    ) -> object:
        """What a function of the system returns. Raises SystemFailed for all that goes wrong."""
        try:
            async with asyncio.timeout(seconds) as limit:
                return await _called(function, arguments, time.monotonic() + seconds)
        except (UnitFailed, UserError, KeyboardInterrupt, GeneratorExit):
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise SystemFailed("it was cancelled from inside") from None
        except BaseException as error:  # what crashes in Rust is no Exception
            if isinstance(error, TimeoutError) and limit.expired():
                raise SystemFailed(f"it did not answer within {seconds:g} s") from None
            raise SystemFailed(one_line(error)) from error


async def _called(
    function: Callable[..., object], arguments: tuple[object, ...], deadline: float
) -> object:
    """What the function returns; the pieces of a stream are collected."""
    if _is_async(function):
        answer = function(*arguments)
    else:
        answer = await in_thread(_in_full, function, arguments, deadline)
    if inspect.isawaitable(answer):
        answer = await answer
    if not isinstance(answer, AsyncIterator):
        return answer
    reply = Reply()
    try:
        async for piece in answer:
            reply.add(piece)
    finally:
        if isinstance(answer, AsyncGenerator):
            await answer.aclose()
    return reply


def _in_full(
    function: Callable[..., object], arguments: tuple[object, ...], deadline: float
) -> object:
    """The same for a plain function, in its thread, where even an exit is only its failure."""
    try:
        answer = function(*arguments)
        if not isinstance(answer, Iterator):
            return answer
        reply = Reply()
        for piece in answer:
            reply.add(piece)
            if time.monotonic() > deadline:  # nobody waits any longer
                break
        return reply
    except (UnitFailed, UserError):
        raise
    except BaseException as error:
        raise SystemFailed(one_line(error)) from error


def parameters(function: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    """The parameters by name; none of what is written in C and does not tell them."""
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return {}


def _is_async(function: Callable[..., object]) -> bool:
    """Whether a function, a method, a partial or an object that is called is async."""
    called = (function, type(function).__call__)
    return any(inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f) for f in called)
