"""Weights of language models on this machine: where they lie, and what identifies them."""

import functools
import hashlib
from pathlib import Path

_WHOLE = 64 * 2**20  # bytes; larger files are sampled
_BLOCK = 2**20
_BLOCKS = 16


def place_of(name: str) -> Path | None:
    """The folder or the GGUF file with that name; None for a name on the Hugging Face Hub."""
    place = Path(name).expanduser()
    is_path = name.startswith((".", "/", "~")) or name.count("/") > 1 or place.exists()
    return place if is_path or place.suffix == ".gguf" else None


def model_digest(name: str) -> str:
    """16 hex digits over a file, or over the names, sizes and contents of a folder's files.

    Of a file above 64 MiB, 16 blocks of 1 MiB are read that are spread evenly over it: training
    changes all of them. Hidden files and subfolders do not count. Empty if there are no files.
    """
    place = place_of(name) if name else None
    if place is None:
        return ""
    paths = sorted(place.iterdir()) if place.is_dir() else [place]
    files = [path for path in paths if path.is_file() and not path.name.startswith(".")]
    stats = [(path, path.stat()) for path in files]
    return _digest(tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in stats))


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
