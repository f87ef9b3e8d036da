"""Gathers calls, sends them in batches, and hands out the answers, also those of earlier runs."""

import asyncio
import contextlib
import copy
from collections.abc import Callable, Coroutine
from typing import Any

from recjury.errors import CallFailed
from recjury.llm.batch.api import BatchApi, GoneError
from recjury.llm.batch.batch import CallBatch, Refusal
from recjury.llm.batch.outbox import Outbox, QueueRoom
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.batch.state import BatchState
from recjury.llm.event_loop import Clock
from recjury.llm.provider import Retryable
from recjury.llm.transport import HttpResponse
from recjury.logs import get_logger

logger = get_logger()

_READ_AT_ONCE = 256  # replies in memory that are not stored yet
_CLOSING_SECONDS = 5.0
_FIRST_POLL = 1.0
_LATE = 3600.0  # seconds after its time in which a batch is cancelled, and after twice, given up
_SLOWER = 1.5


class BatchQueue:
    """The batches of one model.

    The calls that an earlier run sent are looked up at the endpoint, once and before anything is
    sent, so each call is in one batch at a time.
    """

    def __init__(self, spec: BatchModelSpec, api: BatchApi, path: str, clock: Clock):
        """`path` is that of the endpoint that answers the calls, such as /chat/completions."""
        self._spec, self._api, self._path, self._clock = spec, api, path, clock
        self._most_bytes = int(spec.batch_mb * 1e6)
        self._outbox, self._room = Outbox(), QueueRoom(spec, clock)
        self._is_full = asyncio.Event()
        self._last_call = 0.0
        self._batches: list[CallBatch] = []
        self._batch_of: dict[str, CallBatch] = {}  # calls whose answer was not taken yet
        self._taken: dict[str, CallBatch] = {}  # calls whose answer is neither stored nor of no use
        self._stored: set[str] = set()  # calls, before the look-up has ended
        self._slots = asyncio.Semaphore(spec.batches)
        self._reading = asyncio.Semaphore(_READ_AT_ONCE)
        self._look_up: asyncio.Task[None] | None = None
        self._is_looked_up = False
        self._sender: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._clearing: set[asyncio.Task[None]] = set()
        self.waiting = 0
        """How many calls wait for an answer."""

    @property
    def open_batches(self) -> list[CallBatch]:
        """The batches that were sent and are not over, in order."""
        return [batch for batch in self._batches if batch.is_open]

    @property
    def begun(self) -> int:
        """How many batches there were, with those of earlier runs that were waited for."""
        return len(self._batches)

    async def answer(self, identity: str, line: Callable[[], bytes]) -> HttpResponse:
        """The endpoint's answer to a call; `line` makes its line of a file.

        The caller calls `stored` or `used` afterwards. Raises Retryable, ProviderError, CallFailed.
        """
        self.waiting += 1
        try:
            await self._look_up_once()
            while True:
                batch = self._batch_of.get(identity) or await self._gather(identity, line())
                self._ensure_followed(batch)
                await batch.wait()
                await self._reading.acquire()
                self._taken[identity] = batch
                self._batch_of.pop(identity, None)
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
        elif (batch := self._batch_of.pop(identity, None)) is not None:
            self._note_stored(identity, batch)

    def used(self, identity: str) -> None:
        """The answer to this call, if it was given one, is used up: it is stored, or no reply."""
        batch = self._taken.pop(identity, None)
        if batch is not None:
            self._reading.release()
            self._note_stored(identity, batch)

    async def aclose(self) -> None:
        """Stop waiting; batches that were sent go on at the endpoint."""
        if self._clearing:
            await asyncio.wait(self._clearing, timeout=_CLOSING_SECONDS)
        left = self.open_batches
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._outbox.close()
        for batch in self._batches:
            batch.close()
        if left:
            logger.warning(
                "batches go on at the endpoint: run the same command again to read them",
                model=self._spec.name,
                batches=len(left),
                requests=sum(batch.total - batch.done for batch in left),
            )

    # --- what earlier runs sent

    async def _look_up_once(self) -> None:
        task = self._look_up
        if task is None:
            task = self._look_up = self._start(self._find_earlier())
        await asyncio.wait([task])
        if error := task.exception():
            if self._look_up is task:
                self._look_up = None  # the next call tries again
            raise copy.copy(error)

    async def _find_earlier(self) -> None:
        """Read the batches that have ended, and see which calls are in those under way.

        As a file of requests is deleted when all replies are stored, the files that are left say
        which batches have to be read.
        """
        files = await self._api.request_files()
        states = [
            state
            async for state in self._api.batches()
            if state.is_active or (state.has_replies and state.input_file_id in files)
        ]
        for state in sorted(states, key=lambda state: state.is_active):
            if state.is_active and self._left(state) < -2 * _LATE:
                logger.warning("a batch never ended: its calls are sent again", batch=state.id)
                await self._api.cancel(state.id)
            else:
                await self._attach(state)
        self._is_looked_up = True
        self._stored.clear()

    async def _attach(self, state: BatchState) -> None:
        batch = CallBatch(())
        batch.state = state
        if state.is_active:
            batch.calls = await self._api.calls(state)
        else:
            self._number(batch)
            await self._read(batch, state)
            batch.calls = batch.lines.answered.copy()
        for identity in batch.calls:
            if identity in self._stored:
                self._note_stored(identity, batch)
            else:
                self._batch_of.setdefault(identity, batch)

    def _ensure_followed(self, batch: CallBatch) -> None:
        """Ask for a batch of an earlier run from now on, because a call waits for it."""
        if not batch.number:
            self._number(batch)
            logger.info("batch of an earlier run found", batch=batch.id, requests=batch.total)
            self._start(self._carry(batch, self._follow(batch)))

    # --- what this run sends

    def _gather(self, identity: str, line: bytes) -> asyncio.Future[CallBatch]:
        """Put a call into the next batch."""
        if len(line) > self._most_bytes:
            reason = f"the request has {len(line):,} bytes, more than a file of a batch may have"
            raise CallFailed(f"{self._spec.name}: {reason}", permanent=True)
        batch = self._outbox.add(identity, line)
        self._last_call = self._clock.now()
        if self._fills_a_batch():
            self._is_full.set()
        if self._sender is None or self._sender.done():
            self._sender = self._start(self._send_all())
        return batch

    def _fills_a_batch(self) -> bool:
        return len(self._outbox) >= self._room.requests or self._outbox.size >= self._most_bytes

    async def _send_all(self) -> None:
        """Send batches as long as calls wait; the last one when no further call comes."""
        while len(self._outbox):
            await self._until_due()
            await self._slots.acquire()
            await self._room.wait()
            try:
                batch = self._outbox.take(self._room.requests, self._most_bytes)
            except OSError as error:  # no room on the disk: its calls must not wait for ever
                self._slots.release()
                self._outbox.fail(error)
                return
            self._batch_of.update(dict.fromkeys(batch.calls, batch))
            self._number(batch)
            task = self._start(self._carry(batch, self._send(batch)))
            task.add_done_callback(lambda _: self._slots.release())

    async def _until_due(self) -> None:
        while not self._fills_a_batch():
            self._is_full.clear()
            left = self._last_call + self._spec.wait - self._clock.now()
            if left <= 0:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_full.wait(), left)

    async def _send(self, batch: CallBatch) -> None:
        assert batch.requests is not None
        batch.state = await self._api.send(
            batch.requests, self._path, batch=batch.own_id, requests=len(batch.calls)
        )
        batch.requests.close()
        logger.info("batch sent", batch=batch.id, requests=len(batch.calls))
        await self._follow(batch)

    async def _follow(self, batch: CallBatch) -> None:
        """Ask for a batch until it is over, or too late, and read its files."""
        wait, state = min(_FIRST_POLL, self._spec.poll), batch.state
        assert state is not None
        # What was sent just now began just now, whatever the endpoint's clock shows.
        due = self._clock.now() + self._left(state, None if batch.resends else state.created_at)
        try:
            while state.is_active:
                await self._hurry(batch, state, self._clock.now() - due)
                await self._clock.sleep(wait)
                wait = min(wait * _SLOWER, self._spec.poll)
                state = batch.state = await self._api.state(state.id)
                if state.is_accepted:
                    self._room.accepted(len(batch.calls))
        except GoneError:
            raise CallFailed(f"batch {state.id} is no longer at the endpoint: run again") from None
        if state.status != "failed":
            await self._read(batch, state)
        elif batch.resends:
            batch.end()
        else:
            await self._end_refused(batch, state)

    def _left(self, state: BatchState, now: float | None = None) -> float:
        return state.seconds_left(now or self._clock.wall(), self._spec.window_seconds)

    async def _hurry(self, batch: CallBatch, state: BatchState, late: float) -> None:
        """Cancel a batch that is too late once, and give it up if that does not end it either."""
        if late >= 2 * _LATE:
            raise CallFailed(
                f"batch {state.id} is still {state.status[:40]!r} {late / 3600:.0f} hours after "
                "its time: run again to send its requests anew"
            )
        if late >= _LATE and not batch.is_cancelled:
            batch.is_cancelled = True
            logger.warning("batch is late: cancelled", batch=batch.id, status=state.status[:40])
            await self._api.cancel(state.id)

    async def _read(self, batch: CallBatch, state: BatchState) -> None:
        """Read the answers of a batch that has ended."""
        self._room.accepted(len(batch.calls))
        self._room.freed()
        for file in filter(None, (state.output_file_id, state.error_file_id)):
            try:
                await self._api.download(file, batch.lines.file, batch.total)
            except GoneError:
                logger.warning("a file of a batch is no longer there", batch=batch.id, file=file)
        await batch.lines.index()
        replies = len(batch.lines.answered)
        logger.info("batch is over", batch=batch.id, status=state.status, replies=replies)
        reason = f"batch {batch.id} was cancelled at the endpoint: run again to send it anew"
        by_others = state.status == "cancelled" and not batch.is_cancelled
        batch.end(CallFailed(reason) if by_others else None)
        if not batch.unstored:
            self._start_clearing(batch)

    async def _end_refused(self, batch: CallBatch, state: BatchState) -> None:
        """The endpoint refused a batch as a whole: its queue is full, some lines, the account."""
        refusal = Refusal(batch, self._spec)
        logger.warning("batch refused", batch=batch.id, reason=refusal.reason)
        if refusal.calls:
            batch.resends = True
            batch.end(refused=refusal.calls)
        elif refusal.is_full_queue:
            others = len(self.open_batches) - 1
            batch.resends = self._room.refused(len(batch.calls), others=others)
            reason = f"{self._spec.address}: its queue of batches was full for a day: run again"
            batch.end(CallFailed(reason))
            await self._delete(batch, state.input_file_id)
        else:
            batch.end(refusal.failure)

    # --- what is stored

    def _note_stored(self, identity: str, batch: CallBatch) -> None:
        if identity in batch.unstored:
            batch.unstored.discard(identity)
            if not batch.unstored:
                self._start_clearing(batch)

    def _start_clearing(self, batch: CallBatch) -> None:
        task = self._start(self._clear(batch))
        self._clearing.add(task)
        task.add_done_callback(self._clearing.discard)

    async def _clear(self, batch: CallBatch) -> None:
        """Delete the files of a batch whose replies are all stored."""
        if not len(batch.lines):
            batch.close()
        state = batch.state
        if state is not None and not self._spec.keep_files:
            # The input file last: as long as it is there, the batch is read again.
            files = (state.output_file_id, state.error_file_id, state.input_file_id)
            await self._delete(batch, *files)

    async def _delete(self, batch: CallBatch, *files: str | None) -> None:
        try:
            await self._api.delete(*files)
        except Retryable as problem:
            logger.info("files of a batch not deleted", batch=batch.id, reason=problem.reason)

    # --- tasks

    async def _carry(self, batch: CallBatch, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # also a bug: its calls must not wait for ever
            batch.end(error)

    def _number(self, batch: CallBatch) -> None:
        self._batches.append(batch)
        batch.number = len(self._batches)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
