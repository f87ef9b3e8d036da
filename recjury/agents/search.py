"""Items by a text: by BM25 over their texts, or by vectors that a model of the campaign makes."""

import asyncio

import numpy as np
from numpy.typing import NDArray

from recjury.corpora import Catalogue
from recjury.errors import SystemFailed
from recjury.llm import Ask
from recjury.records import ItemRef


class Search:
    """Finds the items whose texts (name, attributes, description) fit a text best."""

    def __init__(self, catalogue: Catalogue):
        """Index all items."""
        import bm25s

        self._items = list(catalogue)
        self._index = bm25s.BM25()
        if self._items:
            self._index.index(_tokens([item.text for item in self._items]), show_progress=False)

    def scores(self, words: list[str]) -> NDArray[np.float64]:
        """How well each item fits some words, in the order of the catalogue; 0 or more."""
        tokens = _tokens([" ".join(words)])[0] if words else []
        if not self._items or not tokens:
            return np.zeros(len(self._items))
        return np.asarray(self._index.get_scores(tokens), dtype=np.float64)

    def best(self, text: str, length: int) -> tuple[ItemRef, ...]:
        """At most `length` items, best first; those that share no word with the text are none."""
        if not self._items:
            return ()
        rows, scores = self._index.retrieve(
            _tokens([text]), k=min(length, len(self._items)), show_progress=False
        )
        ranked = zip(rows[0], scores[0], strict=True)
        return tuple(self._items[row].ref for row, score in ranked if score > 0)


class VectorSearch:
    """Finds the items whose vectors are nearest to that of a text, by cosine.

    The vectors of the catalogue are calls, asked for in the first conversation and found again in
    all others.
    """

    def __init__(self, catalogue: Catalogue, model: str):
        """`model` is the alias of a model that answers at `/embeddings`."""
        self._items, self._model = list(catalogue), model
        self._known: NDArray[np.float32] | None = None
        self._lock = asyncio.Lock()

    async def best(self, text: str, length: int, ask: Ask) -> tuple[ItemRef, ...]:
        """At most `length` items, nearest first. Raises SystemFailed if there are no vectors."""
        if not self._items or not text:
            return ()
        async with self._lock:
            if self._known is None:
                texts = [item.text for item in self._items]
                self._known = await self._vectors(texts, ask, "catalogue")
        wanted = await self._vectors([text], ask, "embedding")
        nearest = (-(self._known @ wanted[0])).argsort(kind="stable")[:length]
        return tuple(self._items[place].ref for place in nearest)

    async def _vectors(self, texts: list[str], ask: Ask, purpose: str) -> NDArray[np.float32]:
        """Vectors of length 1."""
        answer = await ask.embeddings(texts, model=self._model, purpose=purpose)
        if answer.value is None:
            raise SystemFailed(f"its model {self._model}: {answer.reason}")
        vectors: NDArray[np.float32] = answer.value
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, np.finfo(np.float32).tiny))


def _tokens(texts: list[str]) -> list[list[str]]:
    import bm25s

    tokens: list[list[str]] = bm25s.tokenize(
        texts, stopwords="en_plus", return_ids=False, show_progress=False
    )
    return tokens
