"""Work that Ctrl-C ends in order."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

import typer

T = TypeVar("T")

INTERRUPTED = 130


def run_until_interrupted(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`.

    What it prints goes to standard error. Ctrl-C or SIGTERM cancels it: what is finished is kept,
    open calls are waited for. A second one ends the program at once. Raises typer.Exit with code
    130 if it was interrupted.
    """

    async def main() -> T:
        task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()

        def stop() -> None:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
                signal.signal(number, signal.SIG_DFL)
            sys.stderr.write("\nrecjury: waiting for open calls; press Ctrl-C again to stop now\n")
            task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        return await task

    try:
        with contextlib.redirect_stdout(sys.stderr):  # what own code prints is no result
            return asyncio.run(main())
    except asyncio.CancelledError:
        sys.stderr.write("recjury: interrupted; the same command goes on\n")
        raise typer.Exit(INTERRUPTED) from None
