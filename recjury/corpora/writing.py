"""Write files, and check before the work begins that a file can be written."""

import os
from collections.abc import Iterable
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


def _unwritable(path: Path, why: str) -> DataError:
    return DataError(f"cannot be written: {why}", path=path)
