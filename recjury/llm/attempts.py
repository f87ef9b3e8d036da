"""Attempts: requests for one reply that are made again because the reply could not be used.

Attempts are numbered in the identity of a call. If the store has an unusable reply from an earlier
run, its number is in use, and the run asks with the next number. So each run asks for new replies,
up to its limit, and nothing usable is paid for twice. Sending a failed call again is a retry
(`llm.retry`) and not an attempt.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from recjury.errors import CallFailed, ParseError, UnitFailed
from recjury.llm.policy import ATTEMPTS
from recjury.llm.spoken_text import lacks_room
from recjury.records import ChatRequest, Message, Reply, Status

T = TypeVar("T")


class AttemptLimit:
    """The largest number of requests for one reply in a run; a gateway has one for all callers."""

    def __init__(self, most: int = ATTEMPTS):
        """Raises ValueError for a limit below 1."""
        if most < 1:
            raise ValueError(f"expected at least 1 attempt, got {most}")
        self.most = most
        self._unusable: set[str] = set()

    def at_most(self, most: int) -> "AttemptLimit":
        """The lower of this limit and `most`; both know which replies this run has asked for."""
        lower = AttemptLimit(min(most, self.most))
        lower._unusable = self._unusable
        return lower

    def is_of_this_run(self, unusable: Reply) -> bool:
        """Whether this run asked for an unusable reply, so that it counts towards the limit."""
        if not unusable.reused:
            self._unusable.add(unusable.call)
        return unusable.call in self._unusable


def attempt_limit(gateway: object) -> AttemptLimit:
    """The limit of a gateway; the default if it has none."""
    limit = getattr(gateway, "attempts", None)
    return limit if isinstance(limit, AttemptLimit) else AttemptLimit()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request for a reply: its number, from 0, and the problem of the reply before it.

    `room` multiplies the limit of tokens; it doubles after each reply that met its limit.
    """

    number: int = 0
    problem: str = ""
    room: int = 1

    def after(self, reply: Reply, problem: str) -> "Attempt":
        """The next attempt if the `reply` to this one has a `problem`."""
        room = 2 * self.room if lacks_room(reply) else self.room
        return Attempt(self.number + 1, problem, room)

    def numbered(self, request: ChatRequest) -> ChatRequest:
        """`request` with the number and the room of this attempt, and the same messages."""
        if (self.number, self.room) == (request.attempt, request.room):
            return request
        return replace(request, attempt=self.number, room=self.room)

    def applied(self, request: ChatRequest) -> ChatRequest:
        """`request` as in `numbered`, with the problem in the last user message."""
        if not self.problem:
            return self.numbered(request)
        return self.numbered(replace(request, messages=self.noted(request.messages)))

    def noted(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """`messages` with the problem at the end of the last user message.

        No message is added, because some chat templates refuse two user messages in a row and
        empty assistant messages.
        """
        if not self.problem:
            return messages
        note = (
            f"\n\nYour last reply to this could not be used: {self.problem}. "
            "Reply again, in full and in the form asked for."
        )
        users = [place for place, message in enumerate(messages) if message.role == "user"]
        if not users:
            return (*messages, Message("user", (note.strip(),)))
        last = messages[users[-1]]
        changed = Message("user", (*last.parts, note))
        return (*messages[: users[-1]], changed, *messages[users[-1] + 1 :])


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[T]):
    """The value parsed from a reply, or the reason why there is none.

    `value` is None unless `status` is SCORED. `calls` are the identities of all replies received,
    in order, including unusable ones of earlier runs; `reply` is the last one. `failure` is the
    exception of a call that failed.
    """

    value: T | None
    status: Status
    reason: str = ""
    calls: tuple[str, ...] = ()
    reply: Reply | None = None
    failure: UnitFailed | None = None


async def read_attempts(
    send: Callable[[Attempt], Awaitable[Reply]], read: Callable[[Reply], T], limit: AttemptLimit
) -> ParsedReply[T]:
    """Send attempts until `read` can use a reply, or until the limit of the run is reached.

    `read` raises ParseError for a reply that it cannot use. If a call fails, or the budget does not
    cover it, the status is CALL_FAILED; if the same call would fail again, REFUSED. Never raises
    UnitFailed.
    """
    calls: tuple[str, ...] = ()
    reply: Reply | None = None
    attempt, asked = Attempt(), 0
    while True:
        try:
            reply = await send(attempt)
        except UnitFailed as failure:
            return ParsedReply(None, status_of(failure), str(failure), calls, reply, failure)
        calls += (reply.call,)
        try:
            return ParsedReply(read(reply), Status.SCORED, "", calls, reply)
        except ParseError as problem:
            reason = str(problem)
        asked += limit.is_of_this_run(reply)
        if asked >= limit.most:
            return ParsedReply(None, Status.UNREADABLE, reason, calls, reply)
        attempt = attempt.after(reply, reason)


def status_of(failure: UnitFailed) -> Status:
    """The status of a call that failed: REFUSED if the same call would fail again."""
    permanent = isinstance(failure, CallFailed) and failure.permanent
    return Status.REFUSED if permanent else Status.CALL_FAILED
