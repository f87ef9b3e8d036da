"""How many calls a model has open: halved once per episode of refusals, one more per round."""

import asyncio
from collections.abc import Callable
from time import monotonic
from types import TracebackType

from aiolimiter import AsyncLimiter

from recjury.llm.remedies import Remedy


class Limiter:
    """A context for one attempt: it waits for a pause to end, for the rate, and for a free place."""

    def __init__(
        self, most: int, per_minute: int | None = None, now: Callable[[], float] = monotonic
    ):
        """At most `most` attempts are open, and `per_minute` begun in a minute."""
        self.most, self.limit, self._now = most, float(most), now
        self._open = 0
        self._free = asyncio.Condition()
        self._rate = AsyncLimiter(per_minute, 60) if per_minute else None
        self._paused_until = self._halved_at = float("-inf")

    async def __aenter__(self) -> None:
        """Wait for a turn."""
        async with self._free:
            await self._free.wait_for(lambda: self._open < int(self.limit))
            self._open += 1
        while (pause := self._paused_until - self._now()) > 0:
            await asyncio.sleep(pause)
        if self._rate:
            await self._rate.acquire()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Free the place; a call that was answered raises the limit a little."""
        async with self._free:
            self._open -= 1
            self.limit = min(self.most, self.limit + 1 / self.limit)
            self._free.notify(1 + (self._open < int(self.limit) - 1))

    def slow(self, remedy: Remedy) -> float | None:
        """Halve after a refusal for the rate, unless just halved. Returns the wait that was asked."""
        if remedy.rate_limited:
            if self._now() - self._halved_at > 1:
                self.limit, self._halved_at = max(1.0, self.limit / 2), self._now()
            self._paused_until = max(self._paused_until, self._now() + (remedy.wait or 0))
        return remedy.wait
