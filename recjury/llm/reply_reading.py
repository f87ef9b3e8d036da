"""Ask a model, parse its reply, and ask again if the reply cannot be parsed.

Attempts are numbered in the identity of a call. If the store has an unusable reply from an earlier
run, its number is in use, and the run asks with the next number. So each run asks for new replies,
up to its limit, and nothing usable is paid for twice. Sending a failed call again is a retry
(`llm.retry`) and not an attempt.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from recjury.errors import CallFailed, ParseError, UnitFailed
from recjury.llm.event_loop import gather
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

    The problem is a phrase of ours (`ParseError.problem`), because a prompt shows it.

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
        return request._replace(attempt=self.number, room=self.room)

    def applied(self, request: ChatRequest) -> ChatRequest:
        """`request` as in `numbered`, with the problem in the last user message."""
        if not self.problem:
            return self.numbered(request)
        return self.numbered(request._replace(messages=self.noted(request.messages)))

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
        except ParseError as error:
            reason, problem = str(error), error.problem
        asked += limit.is_of_this_run(reply)
        if asked >= limit.most:
            return ParsedReply(None, Status.UNREADABLE, reason, calls, reply)
        attempt = attempt.after(reply, problem)


def status_of(failure: UnitFailed) -> Status:
    """The status of a call that failed: REFUSED if the same call would fail again."""
    permanent = isinstance(failure, CallFailed) and failure.permanent
    return Status.REFUSED if permanent else Status.CALL_FAILED


class SupportsComplete(Protocol):
    """The part of a gateway that `read_reply` needs; `attempts`, an `AttemptLimit`, is optional."""

    async def complete(self, request: ChatRequest) -> Reply:
        """The reply to `request`."""


async def read_reply(
    gateway: SupportsComplete,
    request: ChatRequest,
    read: Callable[[Reply], T],
    *,
    attempts: AttemptLimit | None = None,
    noted: bool = True,
) -> ParsedReply[T]:
    """Call the model and parse the reply with `read`, up to `attempts` times in this run.

    Without `attempts`, the gateway's limit holds. With `noted`, the prompt of a further attempt
    says what was wrong; otherwise it is the same. `read` raises ParseError for a reply that it
    cannot use. If a call fails, or the budget does not cover it, the status is CALL_FAILED or
    REFUSED. Never raises UnitFailed.
    """

    async def send(attempt: Attempt) -> Reply:
        again = attempt.applied if noted else attempt.numbered
        return await gateway.complete(again(request))

    return await read_attempts(send, read, attempts or attempt_limit(gateway))


@dataclass(frozen=True, slots=True)
class Samples(Generic[T]):
    """What was parsed from each sample, in order; None if no attempt at it could be parsed.

    `status` is SCORED if at least one sample was parsed; otherwise `status` and `reason` say why
    none was. `reason` is that of the last sample that could not be parsed. `calls` are all calls
    made. `failure` is the exception if the request for all of them failed.
    """

    values: tuple[T | None, ...]
    status: Status
    reason: str
    calls: tuple[str, ...]
    failure: UnitFailed | None = None

    @property
    def read(self) -> tuple[T, ...]:
        """The values without the missing ones."""
        return tuple(value for value in self.values if value is not None)


async def sample_replies(
    gateway: SupportsComplete,
    request: ChatRequest,
    n: int,
    read: Callable[[Reply], T],
    *,
    together: bool = True,
    repair: bool = False,
) -> Samples[T]:
    """`n` samples of `request`, numbered from its `sample`, each parsed with `read`.

    With `together`, one request asks for all samples; those that the endpoint does not send are
    asked for one by one. A sample that `read` refuses (ParseError) is asked for again, up to the
    gateway's limit: drawn again or, with `repair`, with a note on the problem. If a call fails, or
    the budget does not cover it, the status is CALL_FAILED or REFUSED and there are no values.
    Never raises UnitFailed.
    """
    try:
        replies = await _replies(gateway, request, n, together=together)
    except UnitFailed as failure:
        return Samples((None,) * n, status_of(failure), str(failure), (), failure)
    limit = attempt_limit(gateway)

    async def read_sample(number: int, first: Reply) -> ParsedReply[T]:
        single = request._replace(n=1, sample=request.sample + number)

        async def send(attempt: Attempt) -> Reply:
            if attempt.number == 0:
                return first
            again = attempt.applied if repair else attempt.numbered
            return await gateway.complete(again(single))

        return await read_attempts(send, read, limit)

    found = await gather(read_sample(number, reply) for number, reply in enumerate(replies))
    lost = [each for each in found if each.status is not Status.SCORED]
    calls = tuple(dict.fromkeys(call for each in found for call in each.calls))
    failed = [each for each in lost if each.status is Status.CALL_FAILED]
    if failed:
        return Samples((None,) * n, Status.CALL_FAILED, failed[0].reason, calls)
    return Samples(
        tuple(each.value for each in found),
        Status.SCORED if len(lost) < n else lost[-1].status,
        lost[-1].reason if lost else "",
        calls,
    )


async def _replies(
    gateway: SupportsComplete, request: ChatRequest, n: int, *, together: bool
) -> tuple[Reply, ...]:
    first: tuple[Reply, ...] = ()
    if together and n > 1:
        first = (await gateway.complete(request._replace(n=n))).each()[:n]
    singly = (request._replace(sample=request.sample + k) for k in range(len(first), n))
    return (*first, *await gather(map(gateway.complete, singly)))
