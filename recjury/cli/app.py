"""The program, and what becomes of errors.

Exit codes: 0 done; 1 a bug; 2 the user can mend it (one line); 3 done, but something failed or has
no score; 130 interrupted.
"""

import contextlib
import errno
import io
import os
import re
import sys

import typer

from recjury import __version__
from recjury.cli.overview import Overview
from recjury.errors import UserError

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

app = typer.Typer(
    name="recjury",
    cls=Overview,
    help="Evaluates conversational recommender systems: a simulated user, judges, a debate.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"auto_envvar_prefix": "RECJURY", "help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"recjury {__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, help="Show it."),
) -> None:
    """Evaluates conversational recommender systems: a simulated user, judges, a debate.

    Each option has a variable: RECJURY_RUN_STORE is `--store` of `run`.
    """


def main() -> None:
    """Run a command. Exits with one of the codes above."""
    _open_streams()
    try:
        _run()
    except UserError as error:
        sys.stderr.write(f"recjury: {printable(' '.join(str(error).split()))}\n")
        sys.exit(2)
    except BrokenPipeError:
        _drop_output()
        sys.exit(0)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EBADF):
            raise
        _drop_output()
        with contextlib.suppress(OSError):
            sys.stderr.write(f"recjury: the output cannot be written: {error.strerror}\n")
        sys.exit(2)


def printable(text: str) -> str:
    """The text with its control characters written out: none moves the cursor, or turns a line."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _run() -> None:
    """The command; what it printed is written out before it ends."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UserError("the current folder was deleted: change to another one") from None
    try:
        app()
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # which typer takes for a mistake
            raise ended.__context__ from None
        sys.stdout.flush()
        raise


def _open_streams() -> None:
    """Streams that are closed lead nowhere, and a console may lack a character."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """What could not be written is not tried again when the program ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
