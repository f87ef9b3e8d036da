"""The requests that wait to be sent, and how many of them may be sent in one batch, and when."""

import asyncio
import copy
import tempfile
from collections import deque
from typing import BinaryIO, NamedTuple

from recjury.llm.batch.batch import CallBatch
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.event_loop import Clock
from recjury.logs import get_logger

logger = get_logger()

_CHUNK = 1 << 20
_HALVED_AT_ONCE = 2
_SLOWER = 1.5
_LONGEST_PAUSE = 600.0
_PATIENCE = 86_400.0  # the batches in a queue are answered, or expire, within a day


class _Waiting(NamedTuple):
    identity: str
    size: int
    batch: asyncio.Future[CallBatch]


class Outbox:
    """The requests that wait for a batch, on disk, in the order in which they came.

    A batch is cut from them when it can be sent, so its size fits what the endpoint accepts then.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._file = _temporary_file()
        self._start = 0
        self._waiting: deque[_Waiting] = deque()
        self.size = 0
        """The bytes that wait."""

    def __len__(self) -> int:
        """The number of requests that wait."""
        return len(self._waiting)

    def add(self, identity: str, line: bytes) -> asyncio.Future[CallBatch]:
        """Add the line of one call; the future has its batch when it is cut."""
        self._file.seek(self._start + self.size)
        self._file.write(line)
        self.size += len(line)
        batch = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(identity, len(line), batch))
        return batch

    def take(self, requests: int, size: int) -> CallBatch:
        """The first requests as a batch: at most so many, and of `size` bytes, but at least one."""
        number, total = 0, 0
        for call in self._waiting:
            if number and (number == requests or total + call.size > size):
                break
            number, total = number + 1, total + call.size
        file = self._cut(total)
        calls = [self._waiting.popleft() for _ in range(number)]
        batch = CallBatch([call.identity for call in calls], file)
        for call in calls:
            if not call.batch.done():  # nobody waits for it any more
                call.batch.set_result(batch)
        return batch

    def fail(self, error: Exception) -> None:
        """Let all requests that wait fail."""
        while self._waiting:
            call = self._waiting.popleft()
            if not call.batch.done():
                call.batch.set_exception(copy.copy(error))
        self._empty()

    def close(self) -> None:
        """Delete the file."""
        self._file.close()

    def _cut(self, size: int) -> BinaryIO:
        """The first so many bytes as a file of their own."""
        file = _temporary_file()
        self._file.seek(self._start)
        self._start, self.size = self._start + size, self.size - size
        while size:
            size -= file.write(self._file.read(min(size, _CHUNK)))
        file.flush()
        if not self.size:
            self._empty()
        return file

    def _empty(self) -> None:
        self._start = self.size = 0
        self._file.truncate(0)


class QueueRoom:
    """The most requests that a batch may have, and when one may be sent, as refusals say.

    A refusal does not say whether the batch is too large for the endpoint's queue, or the queue is
    full of batches that will end, perhaps of other programs. So batches are halved twice at once,
    and then once for each pause. They grow again when one is accepted. While other batches of this
    run are under way, they wait undivided.
    """

    def __init__(self, spec: BatchModelSpec, clock: Clock):
        """`requests` is at first, and at most, the `batch_size` of the settings."""
        self._spec, self._clock = spec, clock
        self.requests = spec.batch_size
        self._refusals = 0  # in a row, with no other batch under way
        self._full_since: float | None = None
        self._paused_until = 0.0

    async def wait(self) -> None:
        """Wait until a batch may be sent."""
        while (left := self._paused_until - self._clock.now()) > 0:
            await self._clock.sleep(min(left, self._spec.poll))  # `freed` can end the pause

    def accepted(self, requests: int) -> None:
        """A batch of so many requests was not refused."""
        self._refusals, self._full_since = 0, None
        self.requests = max(self.requests, min(self._spec.batch_size, 2 * requests))

    def freed(self) -> None:
        """A batch that was accepted has ended."""
        self._paused_until = 0.0

    def refused(self, requests: int, *, others: int) -> bool:
        """Make batches smaller, or pause; False if the queue has been full for a day.

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
        self.requests = max(1, min(self.requests, requests // 2))
        if self._refusals <= _HALVED_AT_ONCE and requests > 1:
            logger.warning("batches are made smaller", requests=self.requests)
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


def _temporary_file() -> BinaryIO:
    return tempfile.TemporaryFile(prefix="recjury-batch-")
