"""Ask a model, parse its reply, and ask again if the reply cannot be parsed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from recjury.errors import UnitFailed
from recjury.llm.attempts import (
    Attempt,
    AttemptLimit,
    ParsedReply,
    attempt_limit,
    read_attempts,
    status_of,
)
from recjury.llm.event_loop import gather
from recjury.records import ChatRequest, Reply, Status

T = TypeVar("T")


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
        single = replace(request, n=1, sample=request.sample + number)

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
        first = (await gateway.complete(replace(request, n=n))).each()[:n]
    singly = (replace(request, sample=request.sample + k) for k in range(len(first), n))
    return (*first, *await gather(map(gateway.complete, singly)))
