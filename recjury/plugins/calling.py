"""Calls methods of plugins: with a time limit; their exceptions are caught, their output
redirected.

An exception or a timeout fails one unit only.
"""

import asyncio
import contextlib
import contextvars
import inspect
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from pydantic import ValidationError

from recjury.errors import UnitFailed
from recjury.mistakes import first_mistake

TIMEOUT = 300.0
"""The default time limit of a call, in seconds."""

_LONGEST_MESSAGE = 500  # characters

_redirecting = threading.Lock()
_redirections = 0
_output: TextIO | None = None


async def call_plugin(
    method: Callable[..., object],
    *arguments: object,
    name: str,
    within: float,
    late: str = "gave no answer",
    error: type[UnitFailed] = UnitFailed,
) -> object:
    """Return what `method` returns for `arguments`, if it returns within `within` seconds.

    An `async def` is awaited; if it blocks the event loop, it cannot be stopped. A plain `def` runs
    in its own thread. After a timeout nothing waits for that thread, and the process may end before
    the thread does. An exception (even SystemExit) or a timeout becomes an `error` that begins with
    `name`; other kinds of UnitFailed are raised unchanged. The method's printed output goes to
    standard error.
    """
    working = asyncio.ensure_future(_work(method, arguments, error))
    try:
        with redirect_stdout():
            # `asyncio.timeout` would wait for work that goes on when it is cancelled.
            done, _ = await asyncio.wait({working}, timeout=within)
    finally:
        working.cancel()
    if not done:
        raise error(f"{name} {late} within {within:g} s")
    if working.cancelled():
        raise error(f"{name} cancelled its own answer")
    try:
        return working.result()
    except error as failure:
        if type(failure) is not error:
            raise
        raise error(f"{name}: {exception_message(failure)}") from failure


async def _work(
    method: Callable[..., object], arguments: tuple[object, ...], error: type[UnitFailed]
) -> object:
    try:
        if inspect.iscoroutinefunction(method):
            result: object = method(*arguments)
        else:
            result = await _in_thread(method, arguments, error)
        return await result if inspect.isawaitable(result) else result
    except (UnitFailed, asyncio.CancelledError, KeyboardInterrupt):
        raise
    except BaseException as raised:  # `sys.exit` must not end a campaign
        raise error(f"raised {describe_exception(raised)}{_line_of(raised, method)}") from raised


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
        except UnitFailed as failed:
            failure = failed
        except BaseException as raised:  # a future takes no StopIteration, a thread no SystemExit
            failure = error(f"raised {describe_exception(raised)}{_line_of(raised, method)}")
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name="recjury-plugin", daemon=True).start()
    return future


@contextlib.contextmanager
def redirect_stdout() -> Iterator[None]:
    """Send standard output, which is for the result, to standard error.

    It is restored when the last task has left the block. `contextlib.redirect_stdout` must be left
    in the reverse order of entering, which concurrent conversations do not do.
    """
    global _redirections, _output  # `sys.stdout` is global, too
    with _redirecting:
        if _redirections == 0:
            _output, sys.stdout = sys.stdout, sys.stderr
        _redirections += 1
    try:
        yield
    finally:
        with _redirecting:
            _redirections -= 1
            if _redirections == 0 and _output is not None:
                sys.stdout, _output = _output, None


def describe_exception(error: BaseException) -> str:
    """The type of a plugin's exception and its message, as a reason that can be stored."""
    return f"{type(error).__name__}: {exception_message(error)}"


def exception_message(error: BaseException) -> str:
    """The message of a plugin's exception, in one line of valid Unicode, shortened.

    Of a pydantic ValidationError this is the first mistake, with its field.
    """
    try:
        message = first_mistake(error) if isinstance(error, ValidationError) else str(error)
    except Exception:  # the plugin's `__str__` may raise
        message = "(its message cannot be read)"
    line = " ".join(message.replace("\0", r"\0").split())
    short = line if len(line) <= _LONGEST_MESSAGE else f"{line[:_LONGEST_MESSAGE]}..."
    return short.encode("utf-8", "backslashreplace").decode()


def _line_of(error: BaseException, method: Callable[..., object]) -> str:
    """The innermost line of the method's own file that `error` came through: " (mine.py:22)"."""
    file = getattr(getattr(method, "__code__", None), "co_filename", None)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    return f" ({Path(str(file)).name}:{lines[-1]})" if lines else ""
