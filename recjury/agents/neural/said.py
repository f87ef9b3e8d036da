"""What neural systems read of a conversation: texts by side, and the entities that it names."""

import functools
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from recjury.agents.neural.entities import EntityGraph
from recjury.corpora import Catalogue, fold
from recjury.corpora.words import phrases_in
from recjury.records import Turn

Fidelity = Literal["ievalm", "corrected"]

ITEM = "<movie>"
"""Stands in a written reply where the name of an item of the list belongs."""

_LEAST = 90  # of WRatio, which ends at 100
_MOST = 20  # names of a text


class Said(NamedTuple):
    """A conversation: texts of user and system in turn, the user first, and numbers of entities.

    The text of a side that said nothing is empty. An entity that is named twice stands there twice,
    the last one last.
    """

    texts: tuple[str, ...]
    entities: tuple[int, ...] = ()

    def spoken(self) -> Iterator[str]:
        """The texts that are not empty, each after its speaker, as BARCOR and UniCRS read them."""
        for number, text in enumerate(self.texts):
            if text:
                yield f"{'System' if number % 2 else 'User'}: {text}"


class Listener:
    """Reads conversations.

    "corrected" finds items and attribute values by recjury's own linker. "ievalm" takes the names
    that a record annotates, adds those that iEvaLM-CRS finds (at most 20 names of entities with a
    WRatio of at least 90 in each later text), and removes repeats. Its order of names is that of a
    Python set, which changes from run to run; here the first one comes first.
    """

    def __init__(self, graph: EntityGraph, catalogue: Catalogue, fidelity: Fidelity, longest: int):
        """The last `longest` names count; those of no entity count, too, and are dropped then."""
        self._graph, self._catalogue, self._longest = graph, catalogue, longest
        self._fidelity = fidelity
        self._linked = functools.lru_cache(2_000)(self._matched)
        self._known = functools.lru_cache(2_000)(self._found)
        numbers = set(graph.items.tolist())
        values = ((fold(name), n) for n, name in enumerate(graph.names) if n not in numbers)
        self._values = {value: n for value, n in values if value in catalogue.values}

    def said(self, turns: Sequence[Turn]) -> Said:
        """A conversation as a model reads it."""
        if self._fidelity == "ievalm":
            names = list(dict.fromkeys(name for turn in turns for name in self._annotated(turn)))
            last = names[-self._longest :]
            numbers = [self._graph.number[name] for name in last if name in self._graph.number]
        else:
            numbers = [number for turn in turns for number in self._known(turn.text)]
        return Said(_texts(turns), tuple(numbers[-self._longest :]))

    def _annotated(self, turn: Turn) -> Sequence[str]:
        return self._linked(turn.text) if turn.entities is None else turn.entities

    def _matched(self, text: str) -> tuple[str, ...]:
        from rapidfuzz import fuzz, process

        found = process.extract(text, self._graph.names, scorer=fuzz.WRatio, limit=_MOST)
        return tuple(name for name, score, _ in found if score >= _LEAST)

    def _found(self, text: str) -> tuple[int, ...]:
        items = self._graph.number_of_item
        refs = self._catalogue.link(text)
        values = (self._values[each] for *_, each in phrases_in(text, self._values))
        return (*(items[ref.id] for ref in refs if ref.id in items), *values)


def _texts(turns: Sequence[Turn]) -> tuple[str, ...]:
    texts: list[str] = []
    for turn in turns:
        if turn.speaker != ("system" if len(texts) % 2 else "user"):
            texts.append("")
        texts.append(turn.text)
    return tuple(texts)
