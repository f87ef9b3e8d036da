"""A lock that lets one process at a time run a campaign: a locked file beside the store.

The operating system releases the lock when the process ends, even after a kill.
"""

import contextlib
import hashlib
import os
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from recjury.errors import StoreError


@contextlib.contextmanager
def claim(store: Path, campaign: str) -> Iterator[None]:
    """Hold the lock of `campaign` in the store at that path, which is not a symbolic link.

    Raises StoreError if a running process holds it, and for a store that has another name, whose
    lock would be another one. On Windows nothing is locked.
    """
    if sys.platform == "win32":
        yield
        return
    if store.stat().st_nlink > 1:
        raise StoreError(
            f"the store {store} has another name (a hard link), under which it could be run at the "
            "same time: remove that name, or copy the file"
        )
    path = lock_path(store, campaign)
    handle = _locked(path, campaign)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def lock_path(store: Path, campaign: str) -> Path:
    """The file that is locked while `campaign` runs in the store at that path."""
    name = hashlib.sha256(campaign.encode()).hexdigest()[:12]
    return store.with_name(f"{store.name}.{name}.lock")


def open_beside(path: Path, flags: int) -> int:
    """Open a file beside a store. Raises OSError, and StoreError if it is no regular file.

    A link could lead to a file that is not ours, and opening a pipe could wait for ever.
    """
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise StoreError(f"{path} is not a regular file: remove it")
    return handle


def _locked(path: Path, campaign: str) -> int:
    import fcntl

    while True:
        try:
            handle = open_beside(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise StoreError(f"the lock {path} cannot be made: {error.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 200).decode(errors="replace").strip() or "another process"
            os.close(handle)
            raise StoreError(
                f"campaign {campaign} is being run by {holder}: wait for it, or end it"
            ) from None
        if _is_at(handle, path):
            try:
                os.ftruncate(handle, 0)
                os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            except OSError as error:
                os.close(handle)
                raise StoreError(f"the lock {path} cannot be made: {error.strerror}") from None
            return handle
        # The previous holder removed the file after we opened it and before we locked it.
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
