"""Whether a store still has what was acknowledged: a number in it, and the same one beside it.

What was written lately is in SQLite's write-ahead log, a file beside the store. If that file is
lost after a kill, SQLite opens the store as it was before, and says nothing. So each transaction
adds the rows that it changed to a number in the store (SQLite's `user_version`), and after the
commit the sum is written to another file, which is removed when the store is closed. If the store
has a smaller number than the file, rows were lost.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from recjury.errors import StoreError
from recjury.store.location import Transactions

_LARGEST = 2**31  # `user_version` has 32 bits and a sign


class CountedTransactions(Transactions):
    """Counts what the transactions of one connection change, in the store and beside it."""

    def __init__(self, store: Path):
        """`store` is the path of the store's file."""
        self._store = store
        self._file: int | None = None

    @contextlib.contextmanager
    def begun(self, connection: Connection) -> Iterator[None]:
        """A transaction that counts the rows that it changed; rolled back if the block raises."""
        driver: Any = connection.connection.driver_connection
        with connection.begin():
            before = driver.total_changes
            yield
            changed = driver.total_changes - before
            if changed:
                number = (_number(driver) + changed) % _LARGEST
                driver.execute(f"PRAGMA user_version = {number}")
        if changed:
            self._note(number)

    def _note(self, number: int) -> None:
        """Write the number; a store is not refused because this file cannot be written."""
        with contextlib.suppress(OSError, StoreError):
            if self._file is None:
                self._file = _open(_beside(self._store), os.O_WRONLY | os.O_CREAT)
            # It is always as long, so that a full disk has room for it.
            os.pwrite(self._file, b"%10d\n" % number, 0)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)


def check_acknowledged(connection: Connection, store: Path) -> None:
    """Raise StoreError if the store at that path has lost rows."""
    # Of two numbers, the smaller one was not read while it was written.
    noted = min(_noted(store), _noted(store))
    lost = noted - _number(connection.connection.driver_connection)
    if lost > 0:
        raise StoreError(
            f"the store {store} has lost {lost} of {noted} changes of rows that were acknowledged: "
            f"put its write-ahead log {store.name}-wal back, or remove {_beside(store).name} to go "
            "on with what is left"
        )


def forget(store: Path) -> None:
    """Remove the number beside a store that nobody has open: all is in its own file."""
    if not store.with_name(f"{store.name}-wal").exists():
        with contextlib.suppress(OSError):
            _beside(store).unlink(missing_ok=True)


def _open(path: Path, flags: int) -> int:
    """Open a file beside a store. Raises OSError, and StoreError if it is no regular file.

    A link could lead to a file that is not ours, and opening a pipe could wait for ever.
    """
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise StoreError(f"{path} is not a regular file: remove it")
    return handle


def _beside(store: Path) -> Path:
    return store.with_name(f"{store.name}.acknowledged")


def _number(driver: Any) -> int:
    number: int = driver.execute("PRAGMA user_version").fetchone()[0]
    return number


def _noted(store: Path) -> int:
    try:
        file = _open(_beside(store), os.O_RDONLY)
    except OSError:
        return 0
    with open(file, "rb") as noted, contextlib.suppress(ValueError):
        return int(noted.read(11))
    return 0
