"""Ask again for a reply that could not be used: attempts, numbered in the identity of a call.

An unusable reply that the store has from an earlier run only tells that its number is taken: it is
read again, and the next number is asked for. So every run asks for new replies, at most as many as
its limit says, and nothing that was usable is paid for twice. Retries of a call that failed are no
attempts (`llm.retry`).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from recjury.errors import CallFailed, ParseError, UnitFailed
from recjury.llm.spoken_text import is_cut_off
from recjury.records import ChatRequest, Message, Reply, Status

T = TypeVar("T")

ATTEMPTS = 3
"""How often a run asks for a reply that can be used, unless the campaign says otherwise."""


class AttemptLimit:
    """How often one run asks for one reply; a gateway has one for all that ask through it."""

    def __init__(self, most: int = ATTEMPTS):
        """Raises ValueError for a limit below 1."""
        if most < 1:
            raise ValueError(f"expected at least 1 attempt, got {most}")
        self.most = most
        self._unusable: set[str] = set()

    def at_most(self, most: int) -> "AttemptLimit":
        """A limit of `most` if this one is higher; both know what was asked for in this run."""
        lower = AttemptLimit(min(most, self.most))
        lower._unusable = self._unusable
        return lower

    def is_of_this_run(self, unusable: Reply) -> bool:
        """Whether this run asked for a reply that cannot be used; it then counts."""
        if not unusable.reused:
            self._unusable.add(unusable.call)
        return unusable.call in self._unusable


def attempt_limit(gateway: object) -> AttemptLimit:
    """The limit of a gateway, or the default for what has none."""
    limit = getattr(gateway, "attempts", None)
    return limit if isinstance(limit, AttemptLimit) else AttemptLimit()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a reply: its number from 0, and what was wrong with the one before.

    `room` multiplies the limit of tokens: it doubles whenever a reply was cut off.
    """

    number: int = 0
    problem: str = ""
    room: int = 1

    def after(self, reply: Reply, problem: str) -> "Attempt":
        """The attempt that follows, if this one's `reply` cannot be used because of `problem`."""
        room = 2 * self.room if is_cut_off(reply) else self.room
        return Attempt(self.number + 1, problem, room)

    def numbered(self, request: ChatRequest) -> ChatRequest:
        """`request` as this attempt asks it, with the same messages."""
        return replace(request, attempt=self.number, room=self.room)

    def applied(self, request: ChatRequest) -> ChatRequest:
        """`request` as this attempt asks it; the last user message says what was wrong."""
        return self.numbered(replace(request, messages=self.noted(request.messages)))

    def noted(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """`messages` with what was wrong at the end of the last one of the user.

        No message is added: some chat templates refuse two user messages in a row, and an
        assistant message that is empty.
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
    """What was parsed from a reply, or why nothing was.

    `value` is None unless `status` is SCORED. `calls` are the identities of all replies received,
    in order, including unusable ones of earlier runs; `reply` is the last one. `failure` is why
    a call failed, if one did.
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
    """`send` attempts until one gives a reply that can be `read`, within the limit of the run.

    `read` raises ParseError for a reply that it cannot use. A call that fails, or that the budget
    does not cover, gives the status CALL_FAILED, and one that would fail again REFUSED. Never
    raises UnitFailed.
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
    """What a call that failed is worth: REFUSED if the same request would fail again."""
    permanent = isinstance(failure, CallFailed) and failure.permanent
    return Status.REFUSED if permanent else Status.CALL_FAILED
