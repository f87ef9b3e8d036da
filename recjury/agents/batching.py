"""Conversations that arrive at the same time share a model's forward passes.

One thread owns the model. Requests that arrive within a few milliseconds of each other are one
batch, in the order of arrival. Requests that arrive during a batch wait for the next one.
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

Request = TypeVar("Request")
Response = TypeVar("Response")


@dataclass(eq=False)
class _Waiting(Generic[Request, Response]):
    """One request, and the future of its response in the event loop that waits for it."""

    request: Request
    loop: asyncio.AbstractEventLoop
    response: asyncio.Future[Response]

    def resolve(self, outcome: Response | BaseException) -> None:
        """Set the response from another thread; the event loop may already be closed."""
        try:
            self.loop.call_soon_threadsafe(self._set, outcome)
        except RuntimeError:
            if not self.loop.is_closed():
                raise

    def _set(self, outcome: Response | BaseException) -> None:
        if self.response.done():  # cancelled
            return
        if not isinstance(outcome, BaseException):
            self.response.set_result(outcome)
        elif isinstance(outcome, Exception) and not isinstance(outcome, StopIteration):
            self.response.set_exception(outcome)
        else:  # a future cannot hold it, or it would end the event loop
            self.response.set_exception(RuntimeError(f"the model raised {type(outcome).__name__}"))


class Batcher(Generic[Request, Response]):
    """Answers single requests with a function that takes many at the same time.

    `infer` is called in one thread only, with at most `most` requests, and returns one response for
    each, in order. If it raises, the batch is halved until the failing request is alone, and only
    that one fails.

    A batch starts when no request has arrived for `pause` seconds, when it is full, or after eight
    pauses. Several event loops can use a batcher, one after the other or at the same time.
    """

    def __init__(
        self,
        infer: Callable[[Sequence[Request]], Sequence[Response]],
        *,
        name: str,
        most: int = MOST,
        pause: float = PAUSE,
    ):
        """`name` is the thread's name. The thread starts with the first request."""
        if most < 1:
            raise ValueError(f"most must be at least 1, got {most}")
        self._infer, self._name, self._most, self._pause = infer, name, most, pause
        self._changed = threading.Condition()
        self._waiting: deque[_Waiting[Request, Response]] = deque()
        self._running = self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def ask(self, request: Request) -> Response:
        """Return the response to a request.

        Raises what `infer` raised for this request, and SystemFailed if the batcher is closed.
        Cancelling removes a waiting request; a request that is being answered is finished.
        """
        loop = asyncio.get_running_loop()
        waiting: _Waiting[Request, Response] = _Waiting(request, loop, loop.create_future())
        with self._changed:
            if self._closed:
                raise SystemFailed(f"{self._name} is closed")
            self._waiting.append(waiting)
            self._changed.notify()
            if not self._running:
                self._running = True
                self._thread.submit(self._serve)
        try:
            return await waiting.response
        finally:
            with self._changed:
                if waiting in self._waiting:
                    self._waiting.remove(waiting)

    async def aclose(self) -> None:
        """Answer the waiting requests, then end the thread; later requests are refused."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        await asyncio.to_thread(self._thread.shutdown)

    def _serve(self) -> None:
        """Answer batches until no request waits."""
        while batch := self._collect():
            self._answer(batch)

    def _collect(self) -> list[_Waiting[Request, Response]]:
        """The next batch in the order of arrival; if no request waits, it is empty and the thread
        ends."""
        with self._changed:
            latest = time.monotonic() + _MOST_PAUSES * self._pause
            while 0 < len(self._waiting) < self._most and not self._closed:
                left = min(self._pause, latest - time.monotonic())
                if left <= 0 or not self._changed.wait(left):
                    break
            count = min(self._most, len(self._waiting))
            self._running = count > 0
            return [self._waiting.popleft() for _ in range(count)]

    def _answer(self, batch: Sequence[_Waiting[Request, Response]]) -> None:
        try:
            responses = self._infer([each.request for each in batch])
            if len(responses) != len(batch):
                raise RuntimeError(f"expected {len(batch)} answers, got {len(responses)}")
        except BaseException as error:  # otherwise the callers would wait forever
            if len(batch) == 1:
                batch[0].resolve(error)
                return
            middle = len(batch) // 2
            self._answer(batch[:middle])
            self._answer(batch[middle:])
        else:
            for each, response in zip(batch, responses, strict=True):
                each.resolve(response)
