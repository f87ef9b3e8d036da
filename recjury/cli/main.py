"""Run a command, and turn an error into an exit code.

0 done; 1 a bug (with its traceback); 2 an error the user can fix (one line); 3 done, but some of
it failed; 130 interrupted.
"""

import os
import sys

from recjury.cli import output
from recjury.cli.app import app
from recjury.errors import UserError
from recjury.safe_text import printable


def main() -> None:
    """Entry point of the `recjury` command."""
    # A user's own systems are imported from the current folder ("mine:Recommender"). It is the last
    # entry of the path, so that no file in it replaces an installed library.
    sys.path.append(os.getcwd())
    try:
        app()
    except UserError as error:
        _end(f"recjury: {printable(' '.join(str(error).split()))}", 2)
    except SystemExit as ended:
        # Typer turns an interrupt into an exit without a message.
        if isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt):
            _end("recjury: interrupted: run the same command again", output.INTERRUPTED)
        raise
    except BrokenPipeError:
        # The program that read our output has ended (as in `recjury status | head -1`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _end(line: str, code: int) -> None:
    sys.stderr.write(line + "\n")
    sys.exit(code)
