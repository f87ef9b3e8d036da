"""Gathers calls, sends them in batches, and hands out the answers, also those of earlier runs."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from recjury.errors import CallFailed
from recjury.llm.batch.api import BatchApi, BatchState
from recjury.llm.batch.carrier import BatchCarrier
from recjury.llm.batch.earlier import EarlierBatches
from recjury.llm.batch.open_batch import OpenBatch
from recjury.llm.batch.persistence import Persistence
from recjury.llm.batch.request_file import RequestFile
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.event_loop import Clock
from recjury.llm.transport import HttpResponse
from recjury.logs import get_logger

logger = get_logger()

_READ_AT_ONCE = 256  # replies in memory that are not stored yet
_CLOSING_SECONDS = 5.0


class BatchQueue:
    """The batches of one model.

    The calls that an earlier run sent are looked up at the endpoint, once and before anything is
    sent, so each call is in one batch at a time.
    """

    def __init__(self, spec: BatchModelSpec, api: BatchApi, path: str, clock: Clock):
        """`path` is that of the endpoint that answers the calls, such as /chat/completions."""
        self._spec, self._clock = spec, clock
        self._earlier = EarlierBatches(api, spec.name)
        self._carrier = BatchCarrier(spec, api, path, self._earlier, clock)
        self._persistence = Persistence(spec, clock)
        self._gathering: OpenBatch | None = None
        self._last_call = 0.0
        self._known: dict[str, OpenBatch] = {}
        self._stored: set[str] = set()
        self._taken: dict[str, OpenBatch] = {}
        self._slots = asyncio.Semaphore(spec.batches)
        self._reading = asyncio.Semaphore(_READ_AT_ONCE)
        self._looking: asyncio.Task[None] | None = None
        self._is_looked_up = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._clearing: set[asyncio.Task[None]] = set()
        self._batches: dict[int, OpenBatch] = {}
        self._numbers = 0
        self.waiting = 0
        """How many calls wait for an answer."""

    @property
    def open_batches(self) -> list[OpenBatch]:
        """The batches that were sent and are not over, in order."""
        return [each for each in self._batches.values() if each.id and not each.is_over]

    @property
    def begun(self) -> int:
        """How many batches there were, with those of earlier runs that were found."""
        return self._numbers

    async def answer(self, identity: str, line: Callable[[], bytes]) -> HttpResponse:
        """The endpoint's answer to a call; `line` makes its line of a file.

        The caller calls `stored` or `used` afterwards. Raises Retryable, ProviderError, CallFailed.
        """
        self.waiting += 1
        try:
            await self._look_up_once()
            while True:
                batch = self._known.get(identity) or self._gather(identity, line())
                await self._over(batch)
                await self._reading.acquire()
                self._taken[identity] = batch
                if self._known.get(identity) is batch:
                    del self._known[identity]
                response = batch.take(identity)
                if response is not None:
                    return response
                self.used(identity)
        finally:
            self.waiting -= 1

    def stored(self, identity: str) -> None:
        """A reply to this call is stored."""
        if identity in self._taken:
            self.used(identity)
        elif not self._is_looked_up:
            self._stored.add(identity)
        elif (batch := self._known.pop(identity, None)) is not None:
            self._forget(identity, batch)

    def used(self, identity: str) -> None:
        """The answer to this call, if it was given one, is used up: it is stored, or no reply."""
        batch = self._taken.pop(identity, None)
        if batch is not None:
            self._reading.release()
            self._forget(identity, batch)

    def _forget(self, identity: str, batch: OpenBatch) -> None:
        if identity in batch.left:
            batch.left.discard(identity)
            if not batch.left:
                self._start_clearing(batch)

    async def aclose(self) -> None:
        """Stop waiting; batches that were sent go on at the endpoint."""
        if self._clearing:
            await asyncio.wait(self._clearing, timeout=_CLOSING_SECONDS)
        left = self.open_batches
        for task in [*self._tasks, *([self._looking] if self._looking else [])]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for batch in self._batches.values():
            batch.close()
        if left:
            logger.warning(
                "batches go on at the endpoint: run the same command again to read them",
                model=self._spec.name,
                batches=len(left),
                requests=sum(batch.total - batch.done for batch in left),
            )

    async def _over(self, batch: OpenBatch) -> None:
        """Wait until a batch is over; one of an earlier run is asked for from now on."""
        if batch.file is None and not batch.number:
            self._number(batch)
            logger.info("batch of an earlier run found", batch=batch.id, requests=batch.total)
            self._start(self._carry(batch, self._carrier.follow))
        await batch.wait()

    # --- what earlier runs sent

    async def _look_up_once(self) -> None:
        looking = self._looking
        if looking is None:
            looking = self._looking = asyncio.ensure_future(self._look_up())
        await asyncio.wait([looking])
        if error := looking.exception():
            if self._looking is looking:
                self._looking = None  # the next call tries again
            raise type(error)(str(error))

    async def _look_up(self) -> None:
        found = await self._persistence.insist("look up batches", self._earlier.look_up)
        for state in found:
            if not state.is_active:
                batch = OpenBatch()
                await self._carrier.read(batch, state)
                self._attach(batch, batch.lines.answered)
        for state in found:
            if state.is_active:
                await self._attach_active(state)
        self._is_looked_up = True
        self._stored.clear()

    async def _attach_active(self, state: BatchState) -> None:
        async def read() -> set[str] | None:
            return await self._earlier.identities(state)

        batch = OpenBatch()
        batch.state = state
        calls = await self._persistence.insist(f"read the file of batch {state.id}", read)
        if calls is None:
            # Nothing may be sent twice, so nothing is sent before it is known what it has.
            logger.warning(
                "waiting for a batch of an earlier run whose file cannot be read", batch=state.id
            )
            self._number(batch)
            await self._carrier.follow(batch)
            calls = batch.lines.answered
        self._attach(batch, calls)

    def _attach(self, batch: OpenBatch, calls: set[str]) -> None:
        for identity in calls - self._stored:
            self._known.setdefault(identity, batch)
        if batch.is_over:
            batch.left -= self._stored
            self._number(batch)
            if batch.is_read and not batch.left:
                self._start_clearing(batch)

    # --- what this run sends

    def _gather(self, identity: str, line: bytes) -> OpenBatch:
        """Put a call into the batch that is gathered."""
        if len(line) > self._spec.batch_mb * 1e6:
            reason = f"the request has {len(line):,} bytes, more than a file of a batch may have"
            raise CallFailed(f"{self._spec.name}: {reason}", permanent=True)
        batch = self._gathering
        limits = self._carrier.limits
        if batch is not None and batch.file is not None and limits.is_full(batch.file, len(line)):
            batch.grown = limits.grown
            self._seal(batch)
            batch = None
        if batch is None:
            batch = self._gathering = OpenBatch(file=RequestFile())
            self._number(batch)
            self._start(self._seal_when_quiet(batch))
        assert batch.file is not None
        batch.file.add(identity, line)
        self._known[identity] = batch
        self._last_call = self._clock.now()
        if limits.is_full(batch.file):
            batch.grown = limits.grown
            self._seal(batch)
        return batch

    async def _seal_when_quiet(self, batch: OpenBatch) -> None:
        while self._gathering is batch:
            left = self._last_call + self._spec.wait - self._clock.now()
            if left <= 0:
                self._seal(batch)
                return
            await self._clock.sleep(left)

    def _seal(self, batch: OpenBatch) -> None:
        if self._gathering is batch:
            self._gathering = None
            self._start(self._send(batch))

    async def _send(self, batch: OpenBatch) -> None:
        async with self._slots:
            await self._carry(batch, self._carrier.send)

    async def _carry(
        self, batch: OpenBatch, how: Callable[[OpenBatch], Coroutine[Any, Any, None]]
    ) -> None:
        try:
            await how(batch)
        except Exception as error:  # a bug: its calls must not wait for ever
            batch.fail(partial(_raised, error))

    async def _clear(self, batch: OpenBatch) -> None:
        if not len(batch.lines):
            self._batches.pop(batch.number, None)
            batch.close()
        await self._carrier.clear(batch)

    def _number(self, batch: OpenBatch) -> None:
        self._numbers += 1
        batch.number = self._numbers
        self._batches[batch.number] = batch

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _start_clearing(self, batch: OpenBatch) -> None:
        task = self._start(self._clear(batch))
        self._clearing.add(task)
        task.add_done_callback(self._clearing.discard)


def _raised(error: Exception) -> Exception:
    return error
