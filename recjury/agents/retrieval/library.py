"""A catalogue prepared for search: word postings (BM25), attributes, popularity.

Attributes are people, genres and other categories.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.agents.retrieval.words import content_words
from recjury.knowledge import FILM, Catalogue, fold, plain_value
from recjury.records import Attribute, Domain, DomainAttribute, Item

_K1, _B = 1.2, 0.4
_FIELD_WEIGHTS = {"title": 0.5, "category": 2.0, "people": 0.5, "plot": 1.0}


class IndexedAttribute(NamedTuple):
    """A category or a person. `rows` maps the names of attributes ("director") to rows of items.

    `all_rows` are the rows of all items that have it, each once.
    """

    name: str
    rows: Mapping[str, tuple[int, ...]]
    all_rows: NDArray[np.int64]
    weight: float
    is_category: bool


class Library:
    """Items by row number, and `attributes` by folded name.

    `years` [items] is 0 for an unknown year; `popularity` [items] is from 0 to 1.
    """

    def __init__(self, catalogue: Catalogue):
        """Index every item that can be recommended."""
        self.catalogue = catalogue
        self.items = tuple(catalogue)
        self.small_talk = frozenset(_small_talk(catalogue.domains))
        domains = np.array([catalogue.domain_of(item).name for item in self.items])
        self.rows_beside = cache(lambda domain: np.flatnonzero(domains != domain))
        """The rows of the items that are of another domain than the one named."""
        self.rows = {item.id: row for row, item in enumerate(self.items)}
        facts = [list(self._facts(item)) for item in self.items]
        self._of_rows = [tuple(dict.fromkeys(fold(name) for _, name in each)) for each in facts]
        self.attributes = self._attributes()
        self._postings = _postings(list(map(_document, self.items, facts)))
        self.years: NDArray[np.int64] = np.array([item.year or 0 for item in self.items])
        popularity = np.array([item.popularity or 0.0 for item in self.items], dtype=np.float64)
        top = math.log1p(float(popularity.max(initial=0.0)))
        self.popularity: NDArray[np.float64] = np.log1p(popularity) / (top or 1.0)

    def attributes_of(self, row: int) -> tuple[str, ...]:
        """The folded names of an item's attributes, in the order of the catalogue's entry."""
        return self._of_rows[row]

    def shared(self, row: int, other: int) -> tuple[str, ...]:
        """The folded names of the attributes that two items share, in the order of the first."""
        return tuple(name for name in self._of_rows[row] if name in self._of_rows[other])

    def knows(self, word: str) -> bool:
        """Whether any item's document has the word, which is no word for items as such."""
        return word in self._postings and word not in self.small_talk

    def domain_of(self, row: int) -> Domain:
        """The domain of an item."""
        return self.catalogue.domain_of(self.items[row])

    def search(self, words: Mapping[str, float]) -> NDArray[np.float64]:
        """The BM25 score of each item for weighted words: [items]."""
        scores = np.zeros(len(self.items))
        for word, weight in words.items():
            rows, values = self._postings.get(word, (None, None))
            if rows is not None and values is not None:
                scores[rows] += weight * values
        return scores

    def names_of(self, attribute: Attribute) -> tuple[str, ...]:
        """The folded names of the catalogue's attributes that a spoken one means.

        A person may have several parts in an item, and a category several names ("comedy",
        "comedy film").
        """
        return self._by_value.get(plain_value(attribute.value), ())

    @cached_property
    def _by_value(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = defaultdict(list)
        for key, attribute in self.attributes.items():
            found[plain_value(attribute.name)].append(key)
        return {value: tuple(keys) for value, keys in found.items()}

    def _attributes(self) -> dict[str, IndexedAttribute]:
        rows: dict[str, dict[str, dict[int, None]]] = defaultdict(lambda: defaultdict(dict))
        categories: set[str] = set()
        names: dict[str, str] = {}
        for row, item in enumerate(self.items):
            for attribute, name in self._facts(item):
                rows[fold(name)][attribute.name][row] = None
                if attribute.kind == "category":
                    categories.add(fold(name))
                names.setdefault(fold(name), name)
        total = len(self.items)
        return {
            key: IndexedAttribute(
                names[key],
                {kind: tuple(found) for kind, found in kinds.items()},
                np.array(every),
                math.log(1 + total / len(every)),
                key in categories,
            )
            for key, kinds in rows.items()
            for every in [list(dict.fromkeys(chain(*kinds.values())))]
        }

    def _facts(self, item: Item) -> Iterator[tuple[DomainAttribute, str]]:
        """The item's categories and people; an item's language is not what people ask for."""
        for attribute in self.catalogue.domain_of(item).of_kind("category", "maker", "cast"):
            if attribute.name != "language":
                yield from ((attribute, value) for value in attribute.of(item))


def _small_talk(domains: tuple[Domain, ...]) -> Iterator[str]:
    """The words for items and attributes, stemmed; `content_words` leaves out those for films."""
    for domain in domains:
        if domain.name == FILM:
            continue
        named = (word for each in domain.attributes for word in (each.word, each.words))
        for words in (*domain.all_words, domain.verb, domain.done, *named):
            yield from map(str, content_words(words))


def _document(item: Item, facts: Iterable[tuple[DomainAttribute, str]]) -> dict[str, float]:
    texts: dict[str, list[str]] = {"title": [item.title], "plot": [item.plot]}
    for attribute, value in facts:
        field = "category" if attribute.kind == "category" else "people"
        texts.setdefault(field, []).append(value)
    counts: dict[str, float] = defaultdict(float)
    for field, weight in _FIELD_WEIGHTS.items():
        text = " ".join(texts.get(field, ()))
        for word, count in Counter(map(str, content_words(text))).items():
            counts[word] += count * weight
    return counts


def _postings(
    documents: list[dict[str, float]],
) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    lengths = np.array([sum(document.values()) for document in documents])
    average = float(lengths.mean()) if len(lengths) else 1.0
    collected: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row, document in enumerate(documents):
        for word, count in document.items():
            collected[word].append((row, count))
    total = len(documents)
    postings = {}
    for word, found in collected.items():
        rows = np.array([row for row, _ in found], dtype=np.int64)
        counts = np.array([count for _, count in found])
        rarity = math.log(1 + (total - len(found) + 0.5) / (len(found) + 0.5))
        damped = counts + _K1 * (1 - _B + _B * lengths[rows] / (average or 1.0))
        postings[word] = (rows, rarity * counts * (_K1 + 1) / damped)
    return postings
