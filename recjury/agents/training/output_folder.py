"""The folder that a checkpoint is written to: checked first, filled once all files are written."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from recjury.agents.neural.backbones import INSIDE
from recjury.agents.neural.description import METADATA
from recjury.errors import ConfigError

PARTS = ("rec_model", "conv_model", INSIDE)


def check_place(out: Path) -> None:
    """Refuse a folder that holds something else than a checkpoint. Raises ConfigError."""
    with _alone(out.resolve().parent):
        _check(out)


def _check(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file: name a folder to write the checkpoint to")
    held = {path.name for path in out.iterdir()} if out.is_dir() else set()
    if METADATA not in held and any(not _is_partial(name) for name in held):
        raise ConfigError(
            f"{out} is not empty and holds no checkpoint of ours: name another folder"
        )


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A temporary folder whose contents replace those of `out` when the block succeeds.

    If the block fails they are deleted. A checkpoint in `out` stays until it is replaced; other
    files there are never touched.
    Raises ConfigError where nothing can be written.
    """
    check_place(out)
    place = out.resolve()
    # Inside a folder that is there already: it may be a disk of its own, or the current folder.
    partial = (place if place.is_dir() else place.parent) / f".{place.name}.{os.getpid()}.partial"
    try:
        partial.mkdir(parents=True)
    except OSError as error:
        raise ConfigError(f"{out} cannot be written to: {error.strerror}") from error
    try:
        yield partial
        with _alone(place.parent):
            if place.is_dir():
                _exchange(partial, place)
            else:
                os.replace(partial, place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other trainings from looking at or changing what is in `folder`.

    Two that end at the same moment would mix their parts. It is not done where the folder cannot
    be opened or locked, as on some network drives and on Windows.
    """
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            import fcntl

            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _exchange(partial: Path, place: Path) -> None:
    """Put the checkpoint in `partial` in the place of the one in `place`, if there is one.

    The description goes first and comes last: a folder that has it is whole.
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
    """Whether a training that was killed has left it."""
    return name.startswith(".") and name.endswith(".partial")
