"""Whether a store still has what was acknowledged: a number in it, and the same one beside it.

What was written lately is in SQLite's write-ahead log, a file beside the store. If that file is
lost after a kill, SQLite opens the store as it was before, and says nothing. So each transaction
adds the rows that it changed to a number in the store (SQLite's `user_version`), and after the
commit the sum is written to another file, which is removed when the store is closed. If the store
has a smaller number than the file, rows were lost.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from recjury.errors import StoreError
from recjury.store.claim import open_beside

_LARGEST = 2**31  # `user_version` has 32 bits and a sign


@contextlib.contextmanager
def counted(connection: Connection) -> Iterator[None]:
    """A transaction, rolled back if the block raises; at its end the changed rows are counted."""
    driver: Any = connection.connection.driver_connection
    with connection.begin():
        before = driver.total_changes
        yield
        changed = driver.total_changes - before
        if changed:
            number = (_number(driver) + changed) % _LARGEST
            driver.execute(f"PRAGMA user_version = {number}")
    if changed:
        _note(Path(str(connection.engine.url.database)), number)


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


def _beside(store: Path) -> Path:
    return store.with_name(f"{store.name}.acknowledged")


def _number(driver: Any) -> int:
    number: int = driver.execute("PRAGMA user_version").fetchone()[0]
    return number


def _note(store: Path, number: int) -> None:
    """Write the number; a store is not refused because this file cannot be written."""
    with contextlib.suppress(OSError, StoreError), _open(store, os.O_WRONLY | os.O_CREAT) as file:
        os.write(file, b"%10d\n" % number)  # always as long: a full disk has room for it


def _noted(store: Path) -> int:
    with contextlib.suppress(OSError, ValueError), _open(store, os.O_RDONLY) as file:
        return int(os.read(file, 11))
    return 0


@contextlib.contextmanager
def _open(store: Path, flags: int) -> Iterator[int]:
    file = open_beside(_beside(store), flags)
    try:
        yield file
    finally:
        os.close(file)
