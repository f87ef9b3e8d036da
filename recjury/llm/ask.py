"""Ask, read, and where the reply cannot be read, say what was wrong and ask once more."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from recjury.errors import ParseError, UnitFailed
from recjury.records import ChatRequest, Message, Reply, Status

T = TypeVar("T")

_ECHOED = 8000


class SupportsComplete(Protocol):
    """What `ask` needs of a gateway."""

    async def complete(self, request: ChatRequest) -> Reply:
        """The reply to `request`."""


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[T]):
    """What was read from a reply, or why nothing was.

    `value` is None unless `status` is SCORED. `calls` are the identities of all replies that
    came, in order; `reply` is the last of them.
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
    attempts: int = 2,
) -> ParsedReply[T]:
    """Call the model and `read` its reply, at most `attempts` times.

    `read` raises ParseError for a reply it cannot use. A call that fails, or that the budget
    does not cover, gives the status CALL_FAILED. Never raises UnitFailed.
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
    """`request` again, with the reply that could not be used and what was wrong with it."""
    wrong = f"That reply could not be used: {reason}. Answer again, in full and in the form asked."
    said = () if not reply.text.strip() else (Message("assistant", (reply.text[:_ECHOED],)),)
    return replace(request, messages=(*request.messages, *said, Message("user", (wrong,))))
