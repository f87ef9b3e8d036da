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

_WORTH_A_WARNING = 4  # failures in a row


class Persistence:
    """Repeats requests about batches within the patience of a model's settings."""

    def __init__(self, spec: ModelSpec, clock: Clock):
        """`spec` says for how long."""
        self._spec, self._clock, self._backoff = spec, clock, Backoff(longest=60.0)

    async def insist(self, what: str, action: Callable[[], Awaitable[T]]) -> T:
        """The result of `action`, which is repeated when it raises Retryable.

        Raises CallFailed when it has not been answered for `outage_patience` seconds, or not within
        the rate limits for `patience` seconds.
        """
        begun, failures = self._clock.now(), 0
        while True:
            try:
                return await action()
            except Retryable as problem:
                failures += 1
                reason = problem.reason
                patience = self._spec.outage_patience
                if problem.rate_limited:
                    patience = self._spec.patience
                wait = self._backoff.wait(failures, problem.retry_after)
            left = begun + patience - self._clock.now()
            if left <= 0:
                raise CallFailed(
                    f"{self._spec.address}: cannot {what} ({reason}, {failures} attempts): "
                    "run again when the endpoint answers, or raise outage_patience"
                )
            event = "batch request tried again"
            log = logger.warning if failures == _WORTH_A_WARNING else logger.info
            log(event, what=what, reason=reason, wait=round(wait, 1))
            await self._clock.sleep(min(wait, left))
