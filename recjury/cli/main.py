"""Runs a command and turns what went wrong into an exit code.

0 done; 1 a bug (with its traceback); 2 the user can fix it (one line); 3 done, but some of it
failed; 130 interrupted.
"""

import os
import sys

from recjury.cli.app import app
from recjury.cli.output import printable
from recjury.errors import UserError


def main() -> None:
    """Entry point of the `recjury` command."""
    # Own systems are named by import path ("mine:Recommender"), from where the user stands; last,
    # so that nothing there stands in for an installed library.
    sys.path.append(os.getcwd())
    try:
        app()
    except UserError as error:
        _end(f"recjury: {printable(' '.join(str(error).split()))}", 2)
    except BrokenPipeError:
        # Whoever read our output has left: there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _end(line: str, code: int) -> None:
    sys.stderr.write(line + "\n")
    sys.exit(code)
