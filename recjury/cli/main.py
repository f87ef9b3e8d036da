"""Run a command, and turn an error into an exit code.

0 done; 1 a bug (with its traceback); 2 an error the user can fix (one line); 3 done, but some of
it failed; 130 interrupted.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator

from recjury.cli import output
from recjury.cli.app import app
from recjury.errors import UserError
from recjury.safe_text import printable

_INTERRUPTED = "recjury: interrupted: run the same command again"


def main() -> None:
    """Entry point of the `recjury` command."""
    # A user's own systems are imported from the current folder ("mine:Recommender"). It is the last
    # entry of the path, so that no file in it replaces an installed library.
    sys.path.append(os.getcwd())
    try:
        with _interrupts():
            app()
        sys.stdout.flush()
    except UserError as error:
        _end(f"recjury: {printable(' '.join(str(error).split()))}", 2)
    except SystemExit as ended:
        # Typer turns an interrupt into an exit without a message.
        if isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt):
            _end(_INTERRUPTED, output.INTERRUPTED)
        raise
    except BaseException as error:
        if _is_interrupted(error):
            _end(_INTERRUPTED, output.INTERRUPTED)
        raise


@contextlib.contextmanager
def _interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block; before and after it, an interrupt ends the process."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _is_interrupted(error: BaseException | None) -> bool:
    """Whether it is an interrupt, or what a library has made of one."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _end(line: str, code: int) -> None:
    sys.stderr.write(line + "\n")
    sys.exit(code)
