"""How often a request is sent to one model."""

from recjury.llm.event_loop import Clock


class RateLimiter:
    """Decides when the next request to a model may be sent.

    Requests are spread evenly, `per_minute` of them. If the endpoint asks one call to wait, all
    calls to the model wait; turns within a pause are delayed by its length.
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
        """Send no request for that many seconds."""
        now = self._clock.now()
        self._paused += max(0.0, now + seconds - max(now, self._paused_until))
        self._paused_until = max(self._paused_until, now + seconds)

    @property
    def is_needed(self) -> bool:
        """Whether a request may have to wait for its turn."""
        return bool(self._interval or self._paused_until)

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
