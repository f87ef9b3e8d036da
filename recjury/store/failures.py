"""What a database says when it cannot do something, in one line for the user."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, OperationalError

from recjury.errors import Altered, Stop

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

_ALTERED = re.compile("no such (?:table|column)|malformed JSON|Could not decode")
"""What SQLite says where another program has written to the file."""

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
    except (DBAPIError, sqlite3.Error) as error:
        said = error.orig if isinstance(error, DBAPIError) and error.orig else error
        if isinstance(said, sqlite3.Error):
            # Other errors without a code are those of Python's module, and so bugs.
            code = getattr(said, "sqlite_errorcode", 0) & 0xFF
            code = sqlite3.SQLITE_CORRUPT if _ALTERED.match(str(said)) else code
            advice = _ADVICE.get(code)
        else:
            other = f"mend it, {_GO_ON}" if isinstance(error, OperationalError) else None
            advice = _RIGHTS.get(getattr(said, "sqlstate", None) or "", other)
        if advice is None:
            raise
        raise Stop(f"the store {store}: {' '.join(str(said).split())}: {advice}") from error


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
