"""The folder of a new checkpoint: it is checked first, and filled after all files are written."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recjury.agents.neural.backbones import INSIDE
from recjury.agents.neural.description import METADATA
from recjury.corpora.writing import folder_lock
from recjury.errors import ConfigError

PARTS = ("rec_model", "conv_model", INSIDE)


def check_place(out: Path) -> None:
    """Raise ConfigError if the folder has contents other than a checkpoint."""
    with folder_lock(out.resolve().parent):
        _check(out)


def _check(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file: name a folder to write the checkpoint to")
    held = {path.name for path in out.iterdir()} if out.is_dir() else set()
    if METADATA not in held and any(not _is_partial(name) for name in held):
        raise ConfigError(
            f"{out} is not empty and is not a checkpoint of recjury: name another folder"
        )


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A temporary folder whose contents replace those of `out` when the block succeeds.

    If the block fails, the temporary folder is deleted. A checkpoint in `out` stays until it is
    replaced; other files there are never changed. Raises ConfigError if the folder cannot be
    written to.
    """
    check_place(out)
    place = out.resolve()
    # Inside an existing folder: it may be a separate disk, or the current folder.
    partial = (place if place.is_dir() else place.parent) / f".{place.name}.{os.getpid()}.partial"
    try:
        partial.mkdir(parents=True)
    except OSError as error:
        raise ConfigError(f"{out} cannot be written to: {error.strerror}") from error
    try:
        yield partial
        with folder_lock(place.parent):
            if place.is_dir():
                _exchange(partial, place)
            else:
                os.replace(partial, place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _exchange(partial: Path, place: Path) -> None:
    """Replace the checkpoint in `place`, if there is one, with the one in `partial`.

    The description is removed first and written last: a folder that has it is complete.
    """
    replaced = partial / "replaced"
    replaced.mkdir()
    for name in (METADATA, *PARTS):
        if (place / name).exists():
            os.replace(place / name, replaced / name)
    for name in (*PARTS, METADATA):
        if (partial / name).exists():
            os.replace(partial / name, place / name)


def _is_partial(name: str) -> bool:
    """Whether the folder was left by a training that was killed."""
    return name.startswith(".") and name.endswith(".partial")
