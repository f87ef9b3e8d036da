"""A corpus in a folder, like the shipped samples: a catalogue, dialogues, and for items other than
films a domain.yaml, which says what they are called and which attributes they have."""

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
    read_dialogues,
    read_films,
    read_items,
)
from recjury.errors import DataError
from recjury.knowledge import Catalogue, KnowledgeGraph, read_domain
from recjury.records import Scenario, Speaker, Turn

FILMS = "films.jsonl"
ITEMS = "items.jsonl"
DOMAIN = "domain.yaml"
DIALOGUES = "dialogues.jsonl"


def sample_folder() -> Path:
    """The sample that ships with recjury."""
    return Path(__file__).parent / "sample"


def book_sample_folder() -> Path:
    """The sample about books that ships with recjury."""
    return sample_folder() / "books"


def is_corpus_folder(folder: Path) -> bool:
    """Whether the folder has the files of a corpus."""
    return (folder / DIALOGUES).is_file() and any(
        (folder / file).is_file() for file in (FILMS, ITEMS)
    )


class _SystemTurn(NamedTuple):
    """A system turn that names items: turn `place` (from 0) of a dialogue."""

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
    """A `Corpus` read from one folder. Its records are the system turns that name items."""

    def __init__(self, folder: Path, *, name: str):
        """Raises DataError if a file does not exist, or if there are both films and items."""
        self.name = name
        self._folder = folder
        there = [file for file in (FILMS, ITEMS) if (folder / file).is_file()]
        if len(there) > 1:
            raise DataError(f"{folder} has both {FILMS} and {ITEMS}: leave one of them out")
        if not there and (folder / DOMAIN).is_file():
            raise DataError(f"no {ITEMS} in {folder}: docs/data.md shows what it holds")
        files = [FILMS, DIALOGUES] if there != [ITEMS] else [DOMAIN, ITEMS, DIALOGUES]
        for file in files:
            if not (folder / file).is_file():
                holds = "docs/data.md shows what it holds"
                if file == DOMAIN:
                    holds = "it says what the items are called and which attributes they have"
                raise DataError(f"no {file} in {folder}: {holds}")
        self.paths = tuple(folder / file for file in files)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The items."""
        if (self._folder / FILMS).is_file():
            return read_films(self._folder / FILMS, self.name)
        return read_items(self._folder / ITEMS, self.name, read_domain(self._folder / DOMAIN))

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """Items, people, categories and decades."""
        return build_graph(self.catalogue)

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The splits that have dialogues."""
        there = {dialogue.split for dialogue in self._dialogues}
        return tuple(split for split in ("train", "valid", "test") if split in there)

    def examples(self, split: str) -> list[TrainingExample]:
        """The records of `split`; entities are the annotated items and what the graph finds."""
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
                if dialogue.split == split and said.role == "system" and said.items:
                    yield _SystemTurn(dialogue, index)

    def _scenario(self, turn: _SystemTurn, split: str) -> Scenario | Unresolved:
        if not turn.before:
            return Unresolved(turn.record, "the system recommends before the user has spoken")
        seen = {item for said in turn.before for item in said.items}
        items = tuple(dict.fromkeys(turn.said.items))
        return Scenario(
            corpus=f"{self.name}/{split}",
            record=turn.record,
            history=tuple(Turn(speaker=Speaker(said.role), text=said.text) for said in turn.before),
            targets=tuple(self.catalogue.item(item).ref for item in items),
            target_seen=any(item in seen for item in items),
        )

    def _example(self, turn: _SystemTurn) -> TrainingExample:
        opens = turn.dialogue.turns[0].role == "system"
        items = dict.fromkeys(turn.said.items)
        return TrainingExample(
            record=turn.record,
            dialogue=turn.dialogue.id,
            context=(*([""] if opens else []), *(said.text for said in turn.before)),
            entities=tuple(name for said in turn.before for name in self._entities(said)),
            targets=tuple(self.catalogue.item(item).name for item in items),
            response=turn.said.text,
        )

    def _entities(self, said: DialogueTurn) -> list[str]:
        """The annotated items, and the entities other than items that the text names.

        An item that is named in the text but not annotated is left out.
        """
        items = [self.catalogue.item(item).name for item in said.items]
        linked = self.graph.mentioned(said.text)
        others = [self.graph.entities[e] for e in linked if self.graph.item_of(e) is None]
        return items + others
