"""Run a command, and turn an error into an exit code.

0 done; 1 a bug (with its traceback); 2 an error the user can fix (one line); 3 done, but some of
it failed; 130 interrupted.
"""

import os
import signal
import sys
import threading
from typing import Any

from recjury.cli import output
from recjury.cli.app import app
from recjury.errors import UserError
from recjury.safe_text import printable


def main() -> None:
    """Entry point of the `recjury` command."""
    # A user's own systems are imported from the current folder ("mine:Recommender"). It is the last
    # entry of the path, so that no file in it replaces an installed library.
    sys.path.append(os.getcwd())
    sys.unraisablehook = _unraisable
    before = signal.getsignal(signal.SIGINT)
    try:
        try:
            if before is signal.SIG_DFL:  # `recjury.__main__`; the shell may have it ignored
                signal.signal(signal.SIGINT, signal.default_int_handler)
            app()
            sys.stdout.flush()
        finally:
            _restore(before)
    except UserError as error:
        _end(f"recjury: {printable(' '.join(str(error).split()))}", 2)
    except BaseException as error:
        if not _is_interrupt(error):
            raise
        _restore(before)  # if another interrupt came before it was done
        line = "recjury: interrupted; finished work is kept: run the same command to continue"
        _end(line, output.INTERRUPTED)


def _restore(handler: Any) -> None:
    """Handle interrupts as before: by default, further ones end the process without a word."""
    while True:
        try:
            signal.signal(signal.SIGINT, handler)
        except KeyboardInterrupt:
            continue
        return


def _unraisable(args: Any) -> None:
    """Interrupt again, a moment later, if Python can only print an interrupt, as in a callback."""
    if args.exc_type is KeyboardInterrupt:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(args)


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether it is an interrupt, or what a library, such as Typer, has made of one."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _end(line: str, code: int) -> None:
    sys.stderr.write(line + "\n")
    sys.exit(code)
