"""Run a coroutine to its end, also where an event loop is running, as in a notebook."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TypeVar

from recjury.llm import event_loop

T = TypeVar("T")


def run_now(make: Callable[[], Coroutine[None, None, T]]) -> T:
    """The result of the coroutine, even if an event loop is running in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with event_loop() as runner:
            return runner.run(make())
    return _in_a_thread(make)


def _in_a_thread(make: Callable[[], Coroutine[None, None, T]]) -> T:
    """Run it in a thread with its own event loop, as a notebook needs it.

    An interrupt also ends the work, not only the waiting.
    """
    found: list[T] = []
    failed: list[BaseException] = []
    begun = threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []

    async def work() -> T:
        task = asyncio.current_task()
        assert task is not None
        running.append((asyncio.get_running_loop(), task))
        begun.set()
        return await make()

    def run() -> None:
        try:
            with event_loop() as runner:
                found.append(runner.run(work()))
        except BaseException as error:
            failed.append(error)
        finally:
            begun.set()

    thread = threading.Thread(target=run, name="recjury")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        begun.wait()
        for loop, task in running:
            with suppress(RuntimeError):  # the loop was closed just now
                loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if failed:
        raise failed[0]
    return found[0]
