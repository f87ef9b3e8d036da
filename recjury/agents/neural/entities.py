"""The entities that weights have rows for: numbers of items and values, and the edges between them.

They are read from the files in which iEvaLM-CRS publishes them, or numbered by a corpus's graph:

entity2id.json     {name: number}, from 0 without gaps
kg.json            {number: [[relation, number], ...]}
relation2id.json   {name: number}
item_ids.json      the numbers of entities that may be recommended, in the order of lists
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recjury.corpora import Corpus
from recjury.corpora.ievalm import public_folder
from recjury.errors import UserError
from recjury.files import read_json
from recjury.records import ItemRef

_NAMES, _EDGES, _RELATIONS, _ITEMS = (
    "entity2id.json",
    "kg.json",
    "relation2id.json",
    "item_ids.json",
)
_PUBLIC = ("redial", "opendialkg")


@dataclass(frozen=True)
class EntityGraph:
    """Numbered entities. `ends` [2, edges] are numbers of entities, `kinds` [edges] of relations.

    Each edge stands there in both directions, once. `items` are the numbers of items, `refs` their
    references in the catalogue.
    """

    names: tuple[str, ...]
    relations: tuple[str, ...]
    ends: NDArray[np.int64]
    kinds: NDArray[np.int64]
    items: NDArray[np.int64]
    refs: tuple[ItemRef, ...]

    def __len__(self) -> int:
        """How many entities there are; the padding entity of models is not counted."""
        return len(self.names)

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The number of each entity by its name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def number_of_item(self) -> Mapping[str, int]:
        """The number of each item by its id in the catalogue."""
        return {ref.id: int(n) for ref, n in zip(self.refs, self.items, strict=True)}

    def write(self, folder: Path) -> None:
        """The four files; each edge is written once."""
        edges: dict[str, list[list[int]]] = {}
        for head, tail, kind in zip(*self.ends.tolist(), self.kinds.tolist(), strict=True):
            if head <= tail:
                edges.setdefault(str(head), []).append([kind, tail])
        for name, value in (
            (_NAMES, self.number),
            (_EDGES, edges),
            (_RELATIONS, {name: number for number, name in enumerate(self.relations)}),
            (_ITEMS, self.items.tolist()),
        ):
            text = json.dumps(value, ensure_ascii=False)
            (folder / name).write_text(text, "utf-8")


def entity_graph(corpus: Corpus, weights: Path | None = None) -> EntityGraph:
    """The entities of the weights' folder; else those of ReDial's or OpenDialKG's folder; else
    those of the corpus's own graph.

    Raises UserError if files do not fit, or if the catalogue has items that the weights lack.
    """
    if weights is not None and (weights / _NAMES).is_file():
        return _read(weights, corpus)
    if corpus.name in _PUBLIC:
        return _read(public_folder(corpus.name), corpus)
    return _numbered(corpus)


def _read(folder: Path, corpus: Corpus) -> EntityGraph:
    numbers = read_json(folder / _NAMES)
    try:
        names = tuple(sorted(numbers, key=numbers.__getitem__))
        if [numbers[name] for name in names] != list(range(len(names))):
            raise UserError(f"{folder / _NAMES}: expected numbers from 0 without gaps")
        relations = tuple(read_json(folder / _RELATIONS))
        rows = sorted(set(_edges(read_json(folder / _EDGES))))
        listed = [(n, _item(corpus, n, names[n])) for n in read_json(folder / _ITEMS)]
        array = np.array(rows, dtype=np.int64).reshape(-1, 3)
        if len(array) and (array[:, :2].max() >= len(names) or array[:, 2].max() >= len(relations)):
            raise UserError(f"{folder / _EDGES}: names an entity or a relation that is not there")
    except (TypeError, ValueError, AttributeError, IndexError, KeyError) as error:
        raise UserError(f"{folder}: {_NAMES}, {_EDGES} and {_ITEMS} do not fit: {error}") from None
    found = {number: ref for number, ref in listed if ref is not None}
    known = {ref.id for ref in found.values()}
    if lacking := [item.ref.name for item in corpus.catalogue if item.id not in known]:
        raise UserError(
            f"{folder} lacks {len(lacking)} of {len(corpus.catalogue)} items of {corpus.name}, "
            f"such as {lacking[0]!r}: use weights that were trained on this catalogue, or "
            "`recjury train`"
        )
    items = np.array(list(found), dtype=np.int64)
    return EntityGraph(names, relations, array[:, :2].T, array[:, 2], items, tuple(found.values()))


def _edges(graph: Mapping[str, Any]) -> Iterator[tuple[int, int, int]]:
    for head, edges in graph.items():
        for relation, tail in edges:
            yield int(head), tail, relation
            yield tail, int(head), relation


def _item(corpus: Corpus, number: int, name: str) -> ItemRef | None:
    """An item by number and name, as in iEvaLM's corpora, or by the name of its reference."""
    known = corpus.catalogue.items.get(str(number))
    if known is not None and name in (known.name, known.full_name, known.ref.name):
        return known.ref
    ref = corpus.catalogue.resolve(name)
    known = corpus.catalogue.items.get(ref.id)
    return ref if known is not None and ref.name == name else None


def _numbered(corpus: Corpus) -> EntityGraph:
    """Items come first, in the catalogue's order; values have their folded form as names."""
    catalogue, graph = corpus.catalogue, corpus.catalogue.graph.graph
    number = {node: place for place, node in enumerate(graph)}
    kinds = dict.fromkeys(kind for *_, kind in graph.edges(keys=True))
    relations = {kind: place for place, kind in enumerate(kinds)}
    facts: dict[Any, list[tuple[int, int]]] = {}
    for item, value, kind in graph.edges(keys=True):
        facts.setdefault(number[item], []).append((relations[kind], number[value]))
    array = np.array(list(_edges(facts)), dtype=np.int64).reshape(-1, 3)
    items = tuple(item.ref for item in catalogue)
    known = {ref.name for ref in items}
    values = [node.key for node in graph][len(items) :]
    names = (*(ref.name for ref in items), *(f"{v} (value)" if v in known else v for v in values))
    places = np.arange(len(items))
    return EntityGraph(names, tuple(relations), array[:, :2].T, array[:, 2], places, items)
