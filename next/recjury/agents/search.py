"""BM25 over the texts of items."""

import numpy as np
from numpy.typing import NDArray

from recjury.corpora import Catalogue
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


def _tokens(texts: list[str]) -> list[list[str]]:
    import bm25s

    tokens: list[list[str]] = bm25s.tokenize(
        texts, stopwords="en_plus", return_ids=False, show_progress=False
    )
    return tokens
