"""How many calls a model has open: halved once per episode of refusals, one more per round."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter

from recjury.llm.remedies import Remedy


class Clock:
    """The time, and waiting. Tests have one that does not wait."""

    def now(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class Limiter:
    """Turns for attempts: each waits for a free place, for the rates, and for a pause to end."""

    def __init__(
        self,
        most: int,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Clock | None = None,
    ):
        """At most `most` attempts are open at a time."""
        self.most, self.limit = most, float(most)
        self._clock = clock or Clock()
        self._free = asyncio.Condition()
        self._open = self._begun = self._halved_at = 0
        self._paused_until = float("-inf")
        self._requests = _steady(requests_per_minute) if requests_per_minute else None
        self._tokens = AsyncLimiter(tokens_per_minute, 60) if tokens_per_minute else None

    @asynccontextmanager
    async def turn(self, tokens: float = 0) -> AsyncIterator[int]:
        """A turn for a request of so many tokens. Its number is for `slow`."""
        async with self._free:
            await self._free.wait_for(lambda: self._open < int(self.limit))
            self._open += 1
        try:
            await self._rates(tokens)
            while (pause := self._paused_until - self._clock.now()) > 0:
                await self._clock.sleep(pause)
            self._begun += 1
            yield self._begun
        finally:
            self._open -= 1
            async with self._free:
                self._free.notify(max(1, int(self.limit) - self._open))

    async def _rates(self, tokens: float) -> None:
        if self._requests:
            await self._requests.acquire()
        if self._tokens:  # what is larger than a minute's tokens waits for a whole minute
            await self._tokens.acquire(min(tokens, self._tokens.max_rate))

    def answered(self) -> None:
        """A call was answered: after as many as may be open, one more may be."""
        self.limit = min(self.most, self.limit + 1 / self.limit)

    def slow(self, remedy: Remedy, turn: int) -> None:
        """After a refusal for the rate: halve, and pause for as long as the endpoint asks.

        What was sent before the last halving says nothing about the limit since then.
        """
        if not remedy.rate_limited:
            return
        if turn > self._halved_at:
            self.limit, self._halved_at = max(1.0, self.limit / 2), self._begun
        self._paused_until = max(self._paused_until, self._clock.now() + (remedy.wait or 0))


def _steady(per_minute: int) -> AsyncLimiter:
    """A rate without bursts of more than a second's requests: a full bucket would double it."""
    period = max(1.0, 60 / per_minute)
    return AsyncLimiter(max(1.0, per_minute / 60 * period), period)  # 55 / 60 * 60 / 55 is below 1
