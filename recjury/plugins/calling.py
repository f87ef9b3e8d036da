"""Calls methods of plugins within a time limit, so that their errors fail one unit only."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress

from recjury.errors import UnitFailed
from recjury.plugins.printing import redirect_stdout
from recjury.plugins.telling import describe_exception, exception_message

TIMEOUT = 300.0
"""The default time limit of a call, in seconds."""


async def call_plugin(
    method: Callable[..., object],
    *arguments: object,
    who: str,
    within: float,
    late: str = "gave no answer",
    error: type[UnitFailed] = UnitFailed,
) -> object:
    """What `method` returns for `arguments`, if it returns within `within` seconds.

    An `async def` is awaited; if it blocks the event loop, it cannot be stopped. A plain `def` runs
    in a thread of its own. After the time limit nothing waits for that thread, not even the end of
    the process. Exceptions (even SystemExit) and the time limit become an `error` that begins with
    `who`; other kinds of UnitFailed are raised unchanged. What the method prints goes to standard
    error.
    """
    working = asyncio.ensure_future(_work(method, arguments, error))
    try:
        with redirect_stdout():
            # `asyncio.timeout` would wait for work that goes on when it is cancelled.
            done, _ = await asyncio.wait({working}, timeout=within)
    finally:
        working.cancel()
    if not done:
        raise error(f"{who} {late} within {within:g} s")
    if working.cancelled():
        raise error(f"{who} cancelled its own answer")
    try:
        return working.result()
    except error as failure:
        if type(failure) is not error:
            raise
        raise error(f"{who}: {exception_message(failure)}") from failure


async def _work(
    method: Callable[..., object], arguments: tuple[object, ...], error: type[UnitFailed]
) -> object:
    try:
        if inspect.iscoroutinefunction(method):
            found: object = method(*arguments)
        else:
            found = await _in_thread(method, arguments, error)
        return await found if inspect.isawaitable(found) else found
    except (UnitFailed, asyncio.CancelledError, KeyboardInterrupt):
        raise
    except BaseException as raised:  # `sys.exit` must not end a campaign
        raise error(f"raised {describe_exception(raised)}") from raised


def _in_thread(
    method: Callable[..., object], arguments: tuple[object, ...], error: type[UnitFailed]
) -> asyncio.Future[object]:
    """Run `method` in a daemon thread, in the context of the caller."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: object, failure: Exception | None) -> None:
        if future.done():  # the time limit was reached
            return
        if failure is None:
            future.set_result(result)
        else:
            future.set_exception(failure)

    def run() -> None:
        result: object = None
        failure: Exception | None = None
        try:
            result = context.run(method, *arguments)
        except UnitFailed as own:
            failure = own
        except BaseException as raised:  # a future takes no StopIteration, a thread no SystemExit
            failure = error(f"raised {describe_exception(raised)}")
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name="recjury-plugin", daemon=True).start()
    return future
