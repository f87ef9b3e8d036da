"""A corpus in the form that KBRD trains on: entity ids, and the id of the recommended item."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.agents.kbrd.edges import Neighbourhoods, neighbourhoods
from recjury.corpora import Corpus, TrainingExample
from recjury.errors import DataError
from recjury.records import ItemRef

ENTITY_LIMIT = 32
_COMMON, _FEW = 40, 8
_ITSELF = "what it was trained on (there is nothing else to stop by)"


class Space(NamedTuple):
    """The items that are scored. Row n of every array about items is the n-th item of the graph.

    `items` [items] are entity ids. `columns` maps an item's entity id to its row. `refs` are the
    items of the catalogue. `popularity` [items] is the number of times that people mention them.
    """

    entities: int
    relations: int
    edges: Neighbourhoods
    items: NDArray[np.int64]
    columns: dict[int, int]
    refs: tuple[ItemRef, ...]
    popularity: NDArray[np.float32]


class Instance(NamedTuple):
    """One answer to learn or to predict.

    `entities` are the known entities among the last `ENTITY_LIMIT` names before the answer, with
    repetitions. `mentioned` is True if the label occurs anywhere in the conversation before.
    `context` has that conversation's utterances; those at even indices are the user's.
    """

    dialogue: str
    entities: tuple[int, ...]
    label: int
    mentioned: bool
    context: tuple[str, ...] = ()


class Splits(NamedTuple):
    """The instances to train on and those that decide when to stop, with a phrase for each."""

    train: list[Instance]
    stop: list[Instance]
    trained_on: str
    stopped_on: str


class ExampleSplits(NamedTuple):
    """`Splits`, with examples of the corpus instead of instances."""

    train: list[TrainingExample]
    stop: list[TrainingExample]
    trained_on: str
    stopped_on: str


def space_of(corpus: Corpus) -> Space:
    """The graph of a corpus as arrays."""
    graph, catalogue = corpus.graph, corpus.catalogue
    ids = graph.item_entities
    items = [catalogue.item(graph.item_ids[entity]) for entity in ids]
    entities, relations = len(graph.entities), len(graph.relations)
    return Space(
        entities=entities,
        relations=relations,
        edges=neighbourhoods(graph.edges, entities, relations),
        items=np.array(ids, dtype=np.int64),
        columns={entity: column for column, entity in enumerate(ids)},
        refs=tuple(item.ref for item in items),
        popularity=np.array([item.popularity or 0.0 for item in items], dtype=np.float32),
    )


def instances(corpus: Corpus, split: str) -> list[Instance]:
    """One instance per example of `split` and target that the graph has, in file order."""
    return [each for example in corpus.examples(split) for each in _instances(corpus, example)]


def _instances(corpus: Corpus, example: TrainingExample) -> list[Instance]:
    find = corpus.graph.entity
    labels = [label for label in map(find, example.targets) if label is not None]
    recent = tuple(
        entity for entity in map(find, example.entities[-ENTITY_LIMIT:]) if entity is not None
    )
    before = {find(name) for name in example.entities}
    return [
        Instance(example.dialogue, recent, label, label in before, example.context)
        for label in labels
    ]


def splits(corpus: Corpus) -> Splits:
    """The instances of `example_splits`. Raises DataError if there is nothing to learn from."""
    parts = example_splits(corpus)
    train, stop = (
        [each for example in examples for each in _instances(corpus, example)]
        for examples in (parts.train, parts.stop)
    )
    if not train:
        raise DataError(f"{corpus.name}: no item that its {parts.trained_on} recommends is known")
    return Splits(train, stop or train, parts.trained_on, parts.stopped_on if stop else _ITSELF)


def example_splits(corpus: Corpus) -> ExampleSplits:
    """The examples that a corpus offers for training.

    If there is no train split, the validation split is used: a tenth of its dialogues, chosen by
    their hash, decides when to stop, and the model is trained on the others. Raises DataError if
    there is neither split.
    """
    valid = corpus.examples("valid") if "valid" in corpus.splits else []
    train = corpus.examples("train") if "train" in corpus.splits else []
    if train:
        stopped_on = "validation split" if valid else _ITSELF
        return ExampleSplits(train, valid or train, "train split", stopped_on)
    if not valid:
        raise DataError(
            f"{corpus.name} has nothing to learn from: no system turn of a train or validation "
            "split names an item after the user has spoken"
        )
    held = _tenth(sorted({each.dialogue for each in valid}))
    return ExampleSplits(
        [each for each in valid if each.dialogue not in held],
        [each for each in valid if each.dialogue in held],
        "nine tenths of the validation split's dialogues (there is no train split)",
        "a tenth of the validation split's dialogues",
    )


def graph_instances(corpus: Corpus, *, most: int) -> list[Instance]:
    """Instances made from the graph alone, as if people had said them: at most `most`.

    A user who likes a person or genre gets an item that has it; a user who likes an item gets one
    that shares a person with it. An attribute that more than 40 items share is not used, because it
    says too little. The instances are chosen by their hash.
    """
    graph = corpus.graph
    sharing: dict[int, list[int]] = {}
    for entity in graph.item_entities:
        for _, name in graph.facts(entity):
            tail = graph.entity(name)
            if tail is not None:
                sharing.setdefault(tail, []).append(entity)
    pairs: dict[tuple[int, int], None] = {}
    for tail, items in sharing.items():
        if len(items) <= _COMMON:
            pairs.update({(tail, item): None for item in items})
        if len(items) <= _FEW:
            pairs.update({(a, b): None for a in items for b in items if a != b})
    ranked = sorted(pairs, key=lambda pair: hashlib.sha256(repr(pair).encode()).digest())
    return [
        Instance("", (said,), label, False, (f"I like {graph.entities[said]}.",))
        for said, label in ranked[:most]
    ]


def _tenth(dialogues: Sequence[str]) -> frozenset[str]:
    ranked = sorted(dialogues, key=lambda name: hashlib.sha256(name.encode()).digest())
    return frozenset(ranked[: max(1, len(ranked) // 10)])
