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

        Raises CallFailed when it still fails `outage_patience` seconds after its first failure, not
        counting waits for rate limits, or when those waits took `patience` seconds in total.
        """
        failures = refusals = 0
        failing_since, limited = self._clock.now(), 0.0
        while True:
            try:
                return await action()
            except Retryable as problem:
                reason = problem.reason
                if problem.rate_limited:
                    refusals += 1
                    setting, left = "patience", self._spec.patience - limited
                    wait = self._backoff.wait(refusals, problem.retry_after)
                else:
                    failures += 1
                    failing_since = self._clock.now() if failures == 1 else failing_since
                    spent = self._clock.now() - failing_since
                    setting, left = "outage_patience", self._spec.outage_patience - spent
                    wait = self._backoff.wait(failures, problem.retry_after)
                is_limited = problem.rate_limited
            if left <= 0:
                raise CallFailed(
                    f"{self._spec.address}: cannot {what} ({reason}, {failures + refusals} "
                    f"attempts): run again when the endpoint answers, or raise {setting}"
                )
            event = "batch request tried again"
            log = logger.warning if failures + refusals == _WORTH_A_WARNING else logger.info
            log(event, what=what, reason=reason, wait=round(wait, 1))
            await self._clock.sleep(min(wait, left))
            if is_limited:
                limited += min(wait, left)
                failing_since += min(wait, left)
