"""The vectors of items, which are computed once and kept on disk."""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from recjury.agents.embedding import Embedder, item_text
from recjury.errors import SystemFailed
from recjury.records import digest

if TYPE_CHECKING:
    from recjury.agents.embedding import Vectors
    from recjury.knowledge import Catalogue


class ItemVectors:
    """Finds the items nearest to a text. Safe to share between conversations and processes."""

    def __init__(self, catalogue: "Catalogue", embedder: Embedder, cache: Path | None = None):
        """`cache` is a folder for the vectors (default: `default_cache()`)."""
        self.catalogue = catalogue
        self.embedder = embedder
        self._texts = [item_text(item) for item in catalogue]
        identity = digest([catalogue.digest, embedder.settings])
        self.file = (cache or default_cache()) / f"items-{identity}.npz"
        self._vectors: Vectors | None = None
        self._lock = asyncio.Lock()

    async def similarities(self, text: str) -> NDArray[np.float64]:
        """The cosine of `text` with each item, in the catalogue's order: [items].

        Raises SystemFailed for vectors that are not finite, and what the embedder raises.
        """
        items = await self._items()
        query = await self.embedder.embed([text])
        found = items @ query.T
        dense = found if isinstance(found, np.ndarray) else found.toarray()
        return _finite(dense[:, 0] / (_length(query) or 1.0))

    async def _items(self) -> "Vectors":
        async with self._lock:
            if self._vectors is None:
                self._vectors = await self._load_or_compute()
            return self._vectors

    async def _load_or_compute(self) -> "Vectors":
        if not self.embedder.keeps:
            return await self.embedder.embed(self._texts)
        kept = _read(self.file, len(self._texts))
        if kept is not None:
            return kept
        computed = _unit(np.asarray(await self.embedder.embed(self._texts), dtype=np.float32))
        _finite(computed)
        _write(self.file, computed)
        return computed


def default_cache() -> Path:
    """`recjury` in the user's cache folder (XDG_CACHE_HOME, or ~/.cache)."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "recjury"


def best(similarities: NDArray[np.float64], count: int) -> Sequence[int]:
    """The rows of the `count` highest values, best first; equal values keep their order."""
    order = np.argsort(-similarities, kind="stable")[:count]
    return [int(row) for row in order]


def _read(file: Path, items: int) -> NDArray[np.float32] | None:
    """The kept vectors; None if the file is missing, corrupt or of another catalogue."""
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as kept:
            vectors: NDArray[np.float32] = kept["vectors"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    whole = vectors.ndim == 2 and len(vectors) == items and bool(np.isfinite(vectors).all())
    return vectors if whole else None


def _write(file: Path, vectors: NDArray[np.float32]) -> None:
    """Write the file in one step: another process sees either all of it or nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=file.parent, suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez(stream, vectors=vectors)
        os.replace(partial, file)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def _length(vectors: "Vectors") -> float:
    dense = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
    return float(np.linalg.norm(dense))


def _finite(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """The values as float64. Raises SystemFailed if one is not finite, since it has no rank."""
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise SystemFailed("the embedder gave a vector that is not finite")
    return numbers
