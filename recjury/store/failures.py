"""What a database says when it cannot do something, in one line for the user."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, OperationalError

from recjury.errors import Altered, RecjuryError, Stop

_GO_ON = "then the same command goes on"
_ADVICE = {
    sqlite3.SQLITE_FULL: f"make room, {_GO_ON}",
    sqlite3.SQLITE_IOERR: f"check the disk and its room, {_GO_ON}",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable, or name another store",
    sqlite3.SQLITE_BUSY: f"another process has been writing for a minute: wait for it, {_GO_ON}",
    sqlite3.SQLITE_CANTOPEN: "check that the file is there, and that it and its folder may be used",
    sqlite3.SQLITE_CORRUPT: "the file is damaged: go on with a copy of it, or with another store",
    sqlite3.SQLITE_NOTADB: "the file is damaged: go on with a copy of it, or with another store",
}

_DAMAGED = re.compile("no such (?:table|column)|malformed|unsupported file|Could not decode")
"""What SQLite says, with no code of its own, where something else has written to the file."""

_RIGHTS = {"42501": "give the role its rights", "25006": "make the database writable"}
"""What to do, by SQLSTATE, where a server raises no operational error."""


@contextmanager
def in_one_line(store: str) -> Iterator[None]:
    """Raise Stop for what a user can mend, and leave all other exceptions as they are.

    That is a full disk, a file that may not be written, a damaged file, a lock that another process
    does not give back, what a role may not do, and whatever a database server calls an operational
    error.
    """
    try:
        yield
    except RecjuryError:
        raise
    except Exception as error:
        cause = error.__cause__ if isinstance(error.__cause__, DBAPIError) else error  # of pandas
        said = cause.orig if isinstance(cause, DBAPIError) and cause.orig else cause
        advice = _advice(cause, said)
        if advice is None:
            raise
        raise Stop(f"the store {store}: {' '.join(str(said).split())}: {advice}") from error


def _advice(error: BaseException, said: BaseException) -> str | None:
    """What to do about what a driver said; None if it is a bug."""
    if isinstance(said, UnicodeDecodeError | json.JSONDecodeError):
        return _ADVICE[sqlite3.SQLITE_CORRUPT]
    if isinstance(said, sqlite3.Error):
        # Other errors without a code are those of Python's module, and so bugs.
        is_damaged = _DAMAGED.search(str(said))
        code = sqlite3.SQLITE_CORRUPT if is_damaged else getattr(said, "sqlite_errorcode", 0) & 0xFF
        return _ADVICE.get(code)
    other = f"mend it, {_GO_ON}" if isinstance(error, OperationalError) else None
    return _RIGHTS.get(getattr(said, "sqlstate", None) or "", other)


@contextmanager
def as_written(store: str, what: str) -> Iterator[None]:
    """Raise Altered if what is read has not the form in which it was written."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise Altered(
            f"the store {store}: {what} is not as it was written: `recjury store verify` names "
            "what was altered"
        ) from error
