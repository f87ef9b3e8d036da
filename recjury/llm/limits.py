"""How many requests are open at once, and how often one is sent."""

import asyncio
from collections import deque

from recjury.llm.event_loop import Clock


class Semaphore:
    """A semaphore that is first in, first out, with a way to the head of the queue.

    A released place goes to the first in the queue; a task that comes later cannot take it.
    """

    __slots__ = ("_free", "_waiting")

    def __init__(self, capacity: int):
        """Start with `capacity` (at least 1) free places."""
        self._free = capacity
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self, *, ahead: bool = False) -> None:
        """Take a place; where none is free, wait at the end or, with `ahead`, at the head.

        Retried calls wait at the head, since they came before all that are waiting.
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
                self.release()  # cancelled after it was given the place
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
    """When the next request to a model may be sent.

    Requests are spread evenly, `per_minute` of them. When the endpoint asks one call to wait, all
    calls to the model wait; turns that would come during a pause come as much later as it takes.
    """

    __slots__ = ("_clock", "_interval", "_next", "_paused", "_paused_until")

    def __init__(self, clock: Clock, per_minute: float | None = None):
        """Without `per_minute`, requests are sent as soon as the semaphores allow."""
        self._clock = clock
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0  # the next turn, in time without pauses
        self._paused = 0.0  # seconds of all pauses, to their ends
        self._paused_until = 0.0

    def pause(self, seconds: float) -> None:
        """Let no request be sent for that many seconds."""
        now = self._clock.now()
        self._paused += max(0.0, now + seconds - max(now, self._paused_until))
        self._paused_until = max(self._paused_until, now + seconds)

    @property
    def paused(self) -> bool:
        """Whether no request may be sent now."""
        return bool(self._paused_until) and self._clock.now() < self._paused_until

    async def wait_for_turn(self) -> None:
        """Wait until the next request may be sent."""
        if self._interval:
            resumed = max(self._clock.now(), self._paused_until)
            turn = max(resumed - self._paused, self._next)
            self._next = turn + self._interval
            # A pause that begins during the wait makes it longer.
            while (wait := turn + self._paused - self._clock.now()) > 0:
                await self._clock.sleep(wait)
        await self.wait_for_pause()

    async def wait_for_pause(self) -> None:
        """Wait until the pause is over."""
        while self.paused:
            await self._clock.sleep(self._paused_until - self._clock.now())
