"""Questions of many units are answered together, in one thread."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from recjury.llm.tasks import in_thread

Q = TypeVar("Q")
A = TypeVar("A")


class Batcher(Generic[Q, A]):
    """Answers what waits, at most `size` questions at once; one batch runs at a time.

    Nobody waits for a batch to fill: while one is answered, the next one gathers.
    """

    def __init__(self, answer: Callable[[Sequence[Q]], Sequence[A]], size: int):
        """`answer` is called in a thread; what it raises is raised by all questions of a batch."""
        self._answer, self._size = answer, size
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self._work: asyncio.Task[None] | None = None

    async def ask(self, question: Q) -> A:
        """The answer to one question."""
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        if self._work is None:
            self._work = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        await asyncio.sleep(0)  # what is begun together asks together
        while self._waiting:
            batch, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
            batch = [(question, future) for question, future in batch if not future.done()]
            if batch:
                await self._settle(batch)
        self._work = None

    async def _settle(self, batch: Sequence[tuple[Q, asyncio.Future[A]]]) -> None:
        try:
            answers = await in_thread(self._answer, [question for question, _ in batch])
        except Exception as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(batch, answers, strict=True):
            if not future.done():
                future.set_result(answer)
