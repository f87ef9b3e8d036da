"""ReDial and OpenDialKG as processed for iEvaLM (`ievalm/` of the data folder)."""

from functools import cached_property
from pathlib import Path

from recjury.corpora.corpus import (
    ScenarioSet,
    TrainingExample,
    Unresolved,
    resolved,
    sample_scenarios,
)
from recjury.corpora.ievalm_files import IevalmFiles, Processed
from recjury.errors import DataError
from recjury.knowledge import Catalogue, KnowledgeGraph
from recjury.records import ItemRef, Scenario, Speaker, Turn

DATASETS = ("redial", "opendialkg")


class IevalmCorpus:
    """A `Corpus`: ReDial or OpenDialKG."""

    def __init__(self, name: str, data: Path):
        """`data` is the folder that contains `ievalm/`. Raises DataError if it does not exist."""
        folder = data / "ievalm" / name
        if not folder.is_dir():
            raise DataError(
                f"no folder {folder}: set RECJURY_DATA, or `data` in the campaign file, "
                f"to the folder that holds ievalm/{name}"
            )
        self.name = name
        self.files = IevalmFiles(name, folder)
        self.paths = tuple(sorted(folder.glob("*.json*")))

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits whose files exist. ReDial's training split is not public in this form."""
        return self.files.splits

    @property
    def catalogue(self) -> Catalogue:
        """The items; their ids are entity numbers as strings."""
        return self.files.catalogue

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """The knowledge graph."""
        return self.files.graph

    def examples(self, split: str) -> list[TrainingExample]:
        """The records of `split`, with names as written in the files."""
        return [
            TrainingExample(
                record=row.record,
                dialogue=str(row.dialog_id),
                context=tuple(row.context),
                entities=tuple(row.entity),
                targets=tuple(row.rec),
                response=row.resp,
            )
            for row in self.files.processed(split)
        ]

    def scenarios(
        self, split: str = "test", limit: int | None = None, seed: int = 0
    ) -> ScenarioSet:
        """The records of `split` as scenarios; those without a resolvable target are reported."""
        partial: list[Unresolved] = []
        found, unresolved = resolved(
            self._scenario(row, split, partial) for row in self.files.processed(split)
        )
        return ScenarioSet(sample_scenarios(found, limit, seed), tuple(unresolved), tuple(partial))

    def _scenario(
        self, row: Processed, split: str, partial: list[Unresolved]
    ) -> Scenario | Unresolved:
        targets, missing = self._targets(row)
        if not targets:
            return Unresolved(row.record, missing or "the record names no target item")
        history = tuple(
            Turn(speaker=(Speaker.USER, Speaker.SYSTEM)[index % 2], text=text)
            for index, text in enumerate(row.context)
            if text.strip() or index > 0
        )
        if not history:
            return Unresolved(row.record, "the context is empty")
        if missing:
            partial.append(Unresolved(row.record, missing))
        names = set(row.entity)
        return Scenario(
            corpus=f"{self.name}/{split}",
            record=row.record,
            history=history,
            targets=targets,
            target_seen=any(target.name in names for target in targets),
        )

    def _targets(self, row: Processed) -> tuple[tuple[ItemRef, ...], str]:
        """The targets that are items, and a reason that names the others."""
        known: dict[str, ItemRef] = {}
        reasons: list[str] = []
        for name in row.rec:
            number = self.files.entities.get(name)
            if number is None:
                reasons.append(f"target {name!r} is not an entity in entity2id.json")
            elif not self.catalogue.recommendable(str(number)):
                reasons.append(f"target {name!r} is an entity but not an item in item_ids.json")
            else:
                known[name] = ItemRef(id=str(number), name=name)
        return tuple(known.values()), "; ".join(reasons)
