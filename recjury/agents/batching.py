"""Conversations that come at the same time share a model's forward passes.

One thread owns the model. What arrives within a few milliseconds goes through it as one batch, in
the order of arrival; what arrives meanwhile waits for the next one.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from recjury.errors import SystemFailed

MOST = 32
PAUSE = 0.005
_MOST_PAUSES = 8

Asked = TypeVar("Asked")
Told = TypeVar("Told")


@dataclass(eq=False)
class _Waiting(Generic[Asked, Told]):
    """One question: who waits for its answer, and in which event loop."""

    asked: Asked
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Told]

    def tell(self, told: Told | BaseException) -> None:
        """Hand the answer over, from another thread; the loop may be gone by now."""
        try:
            self.loop.call_soon_threadsafe(self._set, told)
        except RuntimeError:
            if not self.loop.is_closed():
                raise

    def _set(self, told: Told | BaseException) -> None:
        if self.answer.done():  # nobody waits any more
            return
        if not isinstance(told, BaseException):
            self.answer.set_result(told)
        elif isinstance(told, Exception) and not isinstance(told, StopIteration):
            self.answer.set_exception(told)
        else:  # what a future refuses to hold, or what would end the event loop
            self.answer.set_exception(RuntimeError(f"the model raised {type(told).__name__}"))


class Batcher(Generic[Asked, Told]):
    """Answers single questions with a function that answers many at once.

    `infer` is called in one thread only, with at most `most` questions, and returns one answer
    each, in order; an exception among the answers fails that question. If `infer` raises, the
    batch is halved until the question that is to blame stands alone, and only that one fails.

    A batch begins when nothing new has come for `pause` seconds, when it is full, or after eight
    pauses. May be used from several event loops, one after the other or at once.
    """

    def __init__(
        self,
        infer: Callable[[Sequence[Asked]], Sequence[Told | Exception]],
        *,
        name: str,
        most: int = MOST,
        pause: float = PAUSE,
    ):
        """`name` is the thread's. Nothing runs before the first question."""
        if most < 1:
            raise ValueError(f"most must be at least 1, got {most}")
        self._infer, self._name, self._most, self._pause = infer, name, most, pause
        self._changed = threading.Condition()
        self._waiting: deque[_Waiting[Asked, Told]] = deque()
        self._running = self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def ask(self, asked: Asked) -> Told:
        """The answer. Raises what `infer` raised for this question, SystemFailed when closed.

        Cancelling takes a question back that waits; one that is being answered is left to end.
        """
        loop = asyncio.get_running_loop()
        waiting: _Waiting[Asked, Told] = _Waiting(asked, loop, loop.create_future())
        with self._changed:
            if self._closed:
                raise SystemFailed(f"{self._name} is closed")
            self._waiting.append(waiting)
            self._changed.notify()
            if not self._running:
                self._running = True
                self._thread.submit(self._serve)
        try:
            return await waiting.answer
        finally:
            with self._changed:
                if waiting in self._waiting:
                    self._waiting.remove(waiting)

    async def aclose(self) -> None:
        """Answer what waits, then end the thread; later questions are refused."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        await asyncio.to_thread(self._thread.shutdown)

    def _serve(self) -> None:
        """Answer batches until nothing waits."""
        while batch := self._collect():
            self._answer(batch)

    def _collect(self) -> list[_Waiting[Asked, Told]]:
        """The next batch, first come first served; empty, and not running, if nothing waits."""
        with self._changed:
            latest = time.monotonic() + _MOST_PAUSES * self._pause
            while 0 < len(self._waiting) < self._most and not self._closed:
                left = min(self._pause, latest - time.monotonic())
                if left <= 0 or not self._changed.wait(left):
                    break
            count = min(self._most, len(self._waiting))
            self._running = count > 0
            return [self._waiting.popleft() for _ in range(count)]

    def _answer(self, batch: Sequence[_Waiting[Asked, Told]]) -> None:
        try:
            told = self._infer([each.asked for each in batch])
            if len(told) != len(batch):
                raise RuntimeError(f"expected {len(batch)} answers, got {len(told)}")
        except BaseException as error:  # whatever it is, nobody may wait for ever
            if len(batch) == 1:
                batch[0].tell(error)
                return
            middle = len(batch) // 2
            self._answer(batch[:middle])
            self._answer(batch[middle:])
        else:
            for each, answer in zip(batch, told, strict=True):
                each.tell(answer)
