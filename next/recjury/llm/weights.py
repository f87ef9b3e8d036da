"""Weights of language models on this machine: where they lie, and what identifies them."""

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

_WHOLE = 64 * 2**20  # bytes; larger files are sampled
_BLOCK = 2**20
_BLOCKS = 16


def is_path(name: str) -> bool:
    """Whether a name is a folder or a GGUF file, and not a name on the Hugging Face Hub."""
    return (
        name.endswith(".gguf")
        or name.startswith((".", "/", "~"))
        or name.count("/") > 1
        or place_of(name).exists()
    )


def place_of(name: str) -> Path:
    """The folder or the file."""
    return Path(name).expanduser()


def model_digest(name: str) -> str:
    """16 hex digits over a file, or over the names, sizes and contents of a folder's files.

    Of a file above 64 MiB, 16 blocks of 1 MiB are read that are spread evenly over it: training
    changes all of them. Empty if there is nothing at that place.
    """
    return _digest(tuple(_files(place_of(name)))) if name else ""


def _files(place: Path) -> Iterator[tuple[Path, int, int]]:
    """The files with their sizes and times. Hidden files and subfolders do not count."""
    paths = sorted(place.iterdir()) if place.is_dir() else [place]
    for path in paths:
        if path.is_file() and not path.name.startswith("."):
            stat = path.stat()
            yield path, stat.st_size, stat.st_mtime_ns


@functools.cache
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    """Read once for each state of the files: identities ask for it many times."""
    digest = hashlib.sha256()
    for path, size, _ in files:
        digest.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            if size <= _WHOLE:
                digest.update(hashlib.file_digest(file, "sha256").digest())
                continue
            for number in range(_BLOCKS):
                file.seek((size - _BLOCK) * number // (_BLOCKS - 1))
                digest.update(file.read(_BLOCK))
    return digest.hexdigest()[:16] if files else ""
