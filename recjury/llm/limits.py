"""Who may go next: at most so many at once, first come, first served; and a pace per model."""

import asyncio
from collections import deque

from recjury.llm.clock import Clock


class Semaphore:
    """At most `capacity` holders. A freed place goes straight to whoever waits longest.

    Nobody else is woken, and nobody who comes later can slip in between.
    """

    __slots__ = ("_free", "_waiting")

    def __init__(self, capacity: int):
        """Start with `capacity` (at least 1) free places."""
        self._free = capacity
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self, *, ahead: bool = False) -> None:
        """Take a place, waiting for it if need be; `ahead` waits at the head of the queue.

        A retried call came before all that wait, so it goes ahead of them.
        """
        if self._free:
            self._free -= 1
            return
        mine = asyncio.get_running_loop().create_future()
        if ahead:
            self._waiting.appendleft(mine)
        else:
            self._waiting.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self.release()  # the place was handed over just as its taker gave up
            raise

    def release(self) -> None:
        """Give the place back."""
        while self._waiting:
            first = self._waiting.popleft()
            if not first.done():
                first.set_result(None)
                return
        self._free += 1


class RateLimiter:
    """When a model may be sent its next request.

    Requests keep `per_minute` apart evenly. When the endpoint asks for a pause, all calls to the
    model keep it, not only the one that was told.
    """

    __slots__ = ("_clock", "_held_until", "_interval", "_next")

    def __init__(self, clock: Clock, per_minute: float | None = None):
        """RateLimiter by `clock`; None is as fast as places allow."""
        self._clock = clock
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._held_until = 0.0

    def hold(self, seconds: float) -> None:
        """No request to this model for so long."""
        self._held_until = max(self._held_until, self._clock.now() + seconds)

    @property
    def held(self) -> bool:
        """Whether a pause is on."""
        return bool(self._held_until) and self._clock.now() < self._held_until

    async def turn(self) -> None:
        """Wait for this request's turn."""
        if self._interval:
            now = self._clock.now()
            self._next = max(now, self._next) + self._interval
            wait = self._next - self._interval - now
            if wait > 0:
                await self._clock.sleep(wait)
        await self.over()

    async def over(self) -> None:
        """Wait until no pause is on."""
        while self.held:
            await self._clock.sleep(self._held_until - self._clock.now())
