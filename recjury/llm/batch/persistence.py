"""Requests about batches are repeated until they are answered: batches outlast short outages."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from recjury.errors import CallFailed
from recjury.llm.event_loop import Clock
from recjury.llm.provider import Retryable
from recjury.llm.retry import Backoff
from recjury.llm.spec import ModelSpec
from recjury.logs import get_logger

logger = get_logger()

T = TypeVar("T")

_BACKOFF = Backoff(longest=60.0)
_WORTH_A_WARNING = 4  # failures


async def insist(
    spec: ModelSpec, clock: Clock, purpose: str, action: Callable[[], Awaitable[T]]
) -> T:
    """The result of `action`, which is repeated when it raises Retryable.

    Raises CallFailed when it still fails `outage_patience` seconds after its first failure, not
    counting waits for rate limits, or when those waits took `patience` seconds in total.
    """
    failures, limited_seconds, first_failure = 0, 0.0, 0.0
    while True:
        try:
            return await action()
        except Retryable as error:
            problem = error
        failures += 1
        if failures == 1:
            first_failure = clock.now()
        if problem.rate_limited:
            setting, left = "patience", spec.patience - limited_seconds
        else:
            spent = clock.now() - first_failure - limited_seconds
            setting, left = "outage_patience", spec.outage_patience - spent
        if left <= 0:
            raise CallFailed(
                f"{spec.address}: cannot {purpose} ({problem.reason}, {failures} attempts): "
                f"run again when the endpoint answers, or raise {setting}"
            )
        wait = min(left, _BACKOFF.wait(failures, problem.retry_after))
        log = logger.warning if failures == _WORTH_A_WARNING else logger.info
        log(
            "batch request tried again", purpose=purpose, reason=problem.reason, wait=round(wait, 1)
        )
        await clock.sleep(wait)
        if problem.rate_limited:
            limited_seconds += wait
