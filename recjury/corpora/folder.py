"""A corpus in a folder with films.jsonl and dialogues.jsonl, like the shipped sample."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from recjury.corpora.corpus import (
    ScenarioSet,
    TrainingExample,
    Unresolved,
    resolved,
    sample_scenarios,
)
from recjury.corpora.folder_files import (
    Dialogue,
    DialogueTurn,
    build_graph,
    read_catalogue,
    read_dialogues,
)
from recjury.errors import DataError
from recjury.knowledge import Catalogue, KnowledgeGraph
from recjury.records import Scenario, Speaker, Turn

FILMS = "films.jsonl"
DIALOGUES = "dialogues.jsonl"


def sample_folder() -> Path:
    """The sample that ships with recjury."""
    return Path(__file__).parent / "sample"


class _SystemTurn(NamedTuple):
    """A system turn that names films: turn `place` (from 0) of a dialogue."""

    dialogue: Dialogue
    place: int

    @property
    def record(self) -> str:
        return f"{self.dialogue.id}_{self.place}"

    @property
    def said(self) -> DialogueTurn:
        return self.dialogue.turns[self.place]

    @property
    def before(self) -> list[DialogueTurn]:
        return self.dialogue.turns[: self.place]


class FolderCorpus:
    """A `Corpus` read from one folder. Its records are the system turns that name films."""

    def __init__(self, folder: Path, *, name: str):
        """Raises DataError if one of the two files does not exist."""
        self.name = name
        self._folder = folder
        for file in (FILMS, DIALOGUES):
            if not (folder / file).is_file():
                raise DataError(f"no {file} in {folder}: docs/data.md shows what it holds")

    @cached_property
    def catalogue(self) -> Catalogue:
        """The films."""
        return read_catalogue(self._folder / FILMS, self.name)

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """Films, people, genres and decades."""
        return build_graph(self.catalogue)

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The splits that have dialogues."""
        there = {dialogue.split for dialogue in self._dialogues}
        return tuple(split for split in ("train", "valid", "test") if split in there)

    def examples(self, split: str) -> list[TrainingExample]:
        """The records of `split`; entities are the annotated films and what the graph finds."""
        return [self._example(turn) for turn in self._system_turns(split)]

    def scenarios(
        self, split: str = "test", limit: int | None = None, seed: int = 0
    ) -> ScenarioSet:
        """The records of `split` that follow a user turn."""
        found, unresolved = resolved(self._scenario(m, split) for m in self._system_turns(split))
        return ScenarioSet(sample_scenarios(found, limit, seed), tuple(unresolved))

    @cached_property
    def _dialogues(self) -> list[Dialogue]:
        return read_dialogues(self._folder / DIALOGUES, self.catalogue)

    def _system_turns(self, split: str) -> Iterator[_SystemTurn]:
        if split not in self.splits:
            there = ", ".join(self.splits)
            raise DataError(f"{self.name} has no split {split!r}: there are {there}")
        for dialogue in self._dialogues:
            for index, said in enumerate(dialogue.turns):
                if dialogue.split == split and said.role == "system" and said.films:
                    yield _SystemTurn(dialogue, index)

    def _scenario(self, turn: _SystemTurn, split: str) -> Scenario | Unresolved:
        if not turn.before:
            return Unresolved(turn.record, "the system recommends before the user has spoken")
        seen = {film for said in turn.before for film in said.films}
        films = tuple(dict.fromkeys(turn.said.films))
        return Scenario(
            corpus=f"{self.name}/{split}",
            record=turn.record,
            history=tuple(Turn(speaker=Speaker(said.role), text=said.text) for said in turn.before),
            targets=tuple(self.catalogue.item(film).ref for film in films),
            target_seen=any(film in seen for film in films),
        )

    def _example(self, turn: _SystemTurn) -> TrainingExample:
        opens = turn.dialogue.turns[0].role == "system"
        films = dict.fromkeys(turn.said.films)
        return TrainingExample(
            record=turn.record,
            dialogue=turn.dialogue.id,
            context=(*([""] if opens else []), *(said.text for said in turn.before)),
            entities=tuple(name for said in turn.before for name in self._entities(said)),
            targets=tuple(self.catalogue.item(film).name for film in films),
            response=turn.said.text,
        )

    def _entities(self, said: DialogueTurn) -> list[str]:
        """The annotated films, and the entities other than films that the text names.

        A film that is named in the text but not annotated is left out.
        """
        films = [self.catalogue.item(film).name for film in said.films]
        linked = self.graph.mentioned(said.text)
        others = [self.graph.entities[e] for e in linked if self.graph.item_of(e) is None]
        return films + others
