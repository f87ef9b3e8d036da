"""Waits while the endpoint's queue of batches is full; other programs may have filled it."""

from recjury.llm.batch.request_file import FileLimits, RequestFile
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.event_loop import Clock
from recjury.logs import get_logger

logger = get_logger()

_HALVED_AT_ONCE = 2
_SLOWER = 1.5
_LONGEST_PAUSE = 600.0
_PATIENCE = 86_400.0  # the batches in a queue are answered, or expire, within a day


class QueueRoom:
    """Whether the endpoint's queue has room, as far as its refusals say.

    A refusal does not say whether the file is too large for the queue, or the queue is full of
    batches that will end. So files are halved twice at once, and then once for each pause. They
    grow again when one is accepted. While own batches are under way, files wait undivided.
    """

    def __init__(self, spec: BatchModelSpec, limits: FileLimits, clock: Clock):
        """`limits` are made smaller when the queue is full."""
        self._spec, self._limits, self._clock = spec, limits, clock
        self._refusals = 0  # in a row, with no own batch under way
        self._full_since: float | None = None
        self._paused_until = 0.0

    async def wait(self) -> None:
        """Wait until a batch may be sent."""
        while (left := self._paused_until - self._clock.now()) > 0:
            await self._clock.sleep(min(left, self._spec.poll))  # `freed` can end the pause

    def accepted(self, file: RequestFile | None) -> None:
        """A batch was not refused; `file` is None if an earlier run sent it."""
        self._refusals, self._full_since = 0, None
        if file is not None:
            self._limits.grow(file)

    def freed(self) -> None:
        """A batch that was accepted has ended."""
        self._paused_until = 0.0

    def refused(self, file: RequestFile, others: int) -> bool:
        """Make files smaller, or pause; False if the queue has been full for a day.

        `others` is how many other batches of this run are under way.
        """
        now, longest = self._clock.now(), min(_LONGEST_PAUSE, 10 * self._spec.poll)
        if others:
            self._refusals, self._full_since = 0, None
            self._pause(longest)
            return True
        self._refusals += 1
        if self._full_since is None:
            self._full_since = now
        left = self._full_since + _PATIENCE - now
        if left <= 0:
            return False
        self._limits.halve(file)
        if self._refusals <= _HALVED_AT_ONCE and len(file) > 1:
            self._paused_until = 0.0
            logger.warning("batches are made smaller", requests=self._limits.requests)
        else:
            grown = self._spec.poll * _SLOWER ** min(self._refusals - 1, 30)
            self._pause(min(longest, grown, left))
        return True

    def _pause(self, seconds: float) -> None:
        self._paused_until = self._clock.now() + seconds
        logger.warning(
            "the queue of batches at the endpoint is full: waiting",
            model=self._spec.name,
            seconds=round(seconds, 1),
        )
