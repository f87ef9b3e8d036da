"""Ask a model, parse its reply, and ask again if the reply cannot be parsed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from recjury.errors import ParseError, UnitFailed
from recjury.llm.event_loop import gather
from recjury.records import ChatRequest, Message, Reply, Status

T = TypeVar("T")

ATTEMPTS = 2
"""The largest number of requests for a reply that can be parsed."""

_ECHOED = 8000


class SupportsComplete(Protocol):
    """The part of a gateway that `ask` needs."""

    async def complete(self, request: ChatRequest) -> Reply:
        """The reply to `request`."""


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[T]):
    """The value parsed from a reply, or the reason why there is none.

    `value` is None unless `status` is SCORED. `calls` are the identities of all replies received,
    in order; `reply` is the last one.
    """

    value: T | None
    status: Status
    reason: str = ""
    calls: tuple[str, ...] = ()
    reply: Reply | None = None


async def ask(
    gateway: SupportsComplete,
    request: ChatRequest,
    read: Callable[[Reply], T],
    *,
    attempts: int = ATTEMPTS,
) -> ParsedReply[T]:
    """Call the model and parse the reply with `read`, at most `attempts` times.

    `read` raises ParseError for a reply that it cannot use. If a call fails, or the budget does not
    cover it, the status is CALL_FAILED. Never raises UnitFailed.
    """
    calls: tuple[str, ...] = ()
    reason = ""
    reply: Reply | None = None
    for _ in range(attempts):
        try:
            reply = await gateway.complete(request)
        except UnitFailed as failure:
            return ParsedReply(None, Status.CALL_FAILED, str(failure), calls, reply)
        calls += (reply.call,)
        try:
            return ParsedReply(read(reply), Status.SCORED, "", calls, reply)
        except ParseError as problem:
            reason = str(problem)
        request = retry_request(request, reply, reason)
    return ParsedReply(None, Status.UNREADABLE, reason, calls, reply)


def retry_request(request: ChatRequest, reply: Reply, reason: str) -> ChatRequest:
    """`request` again, followed by the reply that could not be used and the reason."""
    wrong = f"That reply could not be used: {reason}. Answer again, in full and in the form asked."
    said = () if not reply.text.strip() else (Message("assistant", (reply.text[:_ECHOED],)),)
    return replace(request, messages=(*request.messages, *said, Message("user", (wrong,))))


@dataclass(frozen=True, slots=True)
class Samples(Generic[T]):
    """The parsed value of each sample, in order; None if it could not be parsed even after a
    repeat.

    `status` is SCORED if at least one sample was parsed; otherwise `status` and `reason` say why
    none was. `reason` is that of the last sample that could not be parsed. `calls` are all calls
    made.
    """

    values: tuple[T | None, ...]
    status: Status
    reason: str
    calls: tuple[str, ...]

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
    """`n` samples of `request`, each parsed with `read`.

    With `together`, one request asks for all samples; those that the endpoint does not send are
    asked for one by one. A sample that `read` refuses (ParseError) is asked for once more: drawn
    again or, with `repair`, by showing the model its reply and the problem. If a call fails, or the
    budget does not cover it, the status is CALL_FAILED and there are no values. Never raises
    UnitFailed.
    """
    try:
        replies = await _replies(gateway, request, n, together=together)
        values, reasons = _read_all(replies, read)
        again = [
            replace(retry_request(request, replies[k], why) if repair else request, sample=n + k)
            for k, why in reasons.items()
        ]
        fresh = await gather(map(gateway.complete, again))
    except UnitFailed as failure:
        return Samples((None,) * n, Status.CALL_FAILED, str(failure), ())
    others, still = _read_all(fresh, read)
    for k, value in zip(reasons, others, strict=True):
        values[k] = value
    return Samples(
        tuple(values),
        Status.SCORED if len(still) < n else Status.UNREADABLE,
        next(reversed((still or reasons).values()), ""),
        tuple(dict.fromkeys(reply.call for reply in (*replies, *fresh))),
    )


async def _replies(
    gateway: SupportsComplete, request: ChatRequest, n: int, *, together: bool
) -> tuple[Reply, ...]:
    first: tuple[Reply, ...] = ()
    if together and n > 1:
        first = (await gateway.complete(replace(request, n=n))).each()[:n]
    singly = (replace(request, sample=number) for number in range(len(first), n))
    return (*first, *await gather(map(gateway.complete, singly)))


def _read_all(
    replies: Sequence[Reply], read: Callable[[Reply], T]
) -> tuple[list[T | None], dict[int, str]]:
    """The parsed values, and the reason by number for samples that could not be parsed."""
    values: list[T | None] = []
    reasons: dict[int, str] = {}
    for number, reply in enumerate(replies):
        try:
            values.append(read(reply))
        except ParseError as problem:
            values.append(None)
            reasons[number] = str(problem)
    return values, reasons
