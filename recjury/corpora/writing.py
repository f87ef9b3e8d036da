"""Write files, and check before the work begins that a file can be written."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from recjury.errors import DataError


def write_file(path: Path, parts: Iterable[bytes]) -> None:
    """Write `parts` to `path` and create its folder. Raises DataError if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(parts)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from None


def check_writable(path: Path) -> None:
    """Raise DataError if a file clearly cannot be written at `path`; nothing is created."""
    if path.is_dir():
        raise _unwritable(path, "it is a folder")
    place = path
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    if place != path and not place.is_dir():
        raise _unwritable(path, f"{place} is not a folder")
    if not os.access(place, os.W_OK):
        raise _unwritable(path, "permission denied")


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Lock `folder`, so that other trainings neither read nor change it.

    Two trainings that end at the same moment would mix their files. If the folder cannot be opened
    or locked, as on some network drives and on Windows, nothing is locked.
    """
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            import fcntl

            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _unwritable(path: Path, why: str) -> DataError:
    return DataError(f"cannot be written: {why}", path=path)
