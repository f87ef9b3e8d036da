"""A folder of golden vectors, as its README describes it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recjury.agents.kbrd.dataset import Space
from recjury.agents.kbrd.edges import neighbourhoods
from recjury.agents.neural.context import Context, EncodedContext
from recjury.knowledge import KnowledgeGraph, Triple

MODELS = ("kbrd", "barcor", "unicrs")


@dataclass(frozen=True)
class Golden:
    """The vectors of one model on one data set: `<root>/<model>/<dataset>`."""

    root: Path
    model: str
    dataset: str

    @property
    def folder(self) -> Path:
        """The checkpoint, and beside it what the reference gave."""
        return self.root / self.model / self.dataset

    @cached_property
    def outputs(self) -> dict[str, Any]:
        """Inputs, lists, texts and hyper-parameters."""
        found: dict[str, Any] = _json(self.folder / "outputs.json")
        return found

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name; those of case i begin with `c{i}_`."""
        with np.load(self.folder / "outputs.npz") as found:
            return {name: found[name] for name in found.files}

    @property
    def args(self) -> dict[str, Any]:
        """The hyper-parameters the reference ran with."""
        found: dict[str, Any] = self.outputs["args"]
        return found

    @property
    def cases(self) -> list[dict[str, Any]]:
        """The conversations, with what the reference answered."""
        found: list[dict[str, Any]] = self.outputs["cases"]
        return found

    def backbone(self, argument: str) -> str:
        """The folder of a backbone that an argument names; its hub name where there is none."""
        name: str = self.args[argument]
        local = self.root / "common" / "backbones" / name
        return str(local) if local.is_dir() else name

    @cached_property
    def entities(self) -> dict[str, int]:
        """Entity ids by name."""
        found: dict[str, int] = _json(self._data / "entity2id.json")
        return found

    @cached_property
    def relations(self) -> int:
        """How many relations there are."""
        return len(_json(self._data / "relation2id.json"))

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """The knowledge graph, without names of relations."""
        triples: dict[str, list[list[int]]] = _json(self._data / "kg.json")
        return KnowledgeGraph(
            entities=sorted(self.entities, key=self.entities.__getitem__),
            relations=[str(number) for number in range(self.relations)],
            triples=[Triple(int(h), r, t) for h, found in triples.items() for r, t in found],
            item_ids={},
            item_entities=_json(self._data / "item_ids.json"),
        )

    def space(self, *, extra: int = 0) -> Space:
        """The graph as arrays, with `extra` nodes that nothing points to."""
        nodes, items = len(self.entities), self.graph.item_entities
        return Space(
            entities=nodes,
            relations=self.relations,
            edges=neighbourhoods(self.graph.edges, nodes + extra, self.relations),
            items=np.array(items, dtype=np.int64),
            columns={entity: column for column, entity in enumerate(items)},
            refs=(),
            popularity=np.zeros(len(items), dtype=np.float32),
        )

    def heard(self, *, entities: int) -> list[EncodedContext]:
        """The cases as a model reads them; the last `entities` names count, if known."""
        found = []
        for case in self.cases:
            names = case["entity"][-entities:] if entities else []
            known = tuple(self.entities[name] for name in names if name in self.entities)
            context = Context(tuple(case["context"]), known)
            found.append(EncodedContext(context, frozenset(), len(case["context"])))
        return found

    @property
    def _data(self) -> Path:
        return self.root / "common" / self.dataset


def found_in(root: Path) -> Iterator[Golden]:
    """Everything that is there, by model and data set."""
    for model in MODELS:
        for path in sorted((root / model).glob("*/outputs.npz")):
            yield Golden(root, model, path.parent.name)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
