"""The files of one ievalm folder (redial or opendialkg), read strictly.

The keys of id2info.json are not entity ids; its records are joined to the entities by name. If
several records have the same name (7 in ReDial, with equal attributes), the first one is used.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter

from recjury.corpora.json_rows import JsonRow
from recjury.errors import DataError
from recjury.input_files import read_json_file, read_rows
from recjury.knowledge import BOOK, Catalogue, KnowledgeGraph, Triple, known_domain, split_year
from recjury.records import Item, ItemRef

_SPLITS = ("train", "valid", "test")
_PLAUSIBLE_YEAR = re.compile(r"(?:18|19|20)\d\d")
_NAMED_ID = re.compile(r"@(\d+)")


class Info(JsonRow):
    """One record of id2info.json. ReDial has the key `star`, OpenDialKG the key `actor`."""

    name: str
    year: str | None = None
    genre: list[str] = Field(default_factory=list)
    director: list[str] = Field(default_factory=list)
    writer: list[str] = Field(default_factory=list)
    actor: list[str] = Field(default_factory=list)
    star: list[str] = Field(default_factory=list)
    language: list[str] = Field(default_factory=list)
    plot: str = ""


class Processed(JsonRow):
    """One line of a `*_data_processed.jsonl` file: one recommendation turn."""

    dialog_id: str | int
    turn_id: int
    context: list[str]
    entity: list[str]
    rec: list[str]
    resp: str

    @property
    def record(self) -> str:
        """Dialogue and turn, unique in a split ("11_3")."""
        return f"{self.dialog_id}_{self.turn_id}"


class _Message(BaseModel):
    text: str


class _Conversation(BaseModel):
    messages: list[_Message]


_NUMBERS = TypeAdapter(dict[str, int])
_LIST = TypeAdapter(list[int])
_NAMES = TypeAdapter(list[str])
_TRIPLES = TypeAdapter(dict[str, list[tuple[int, int]]])
_INFOS = TypeAdapter(dict[str, Info])


@dataclass(frozen=True)
class IevalmFiles:
    """The data of `folder`; each part is read when it is first needed."""

    name: str
    folder: Path

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits whose file exists."""
        return tuple(s for s in _SPLITS if self.split_file(s).is_file())

    def split_file(self, split: str) -> Path:
        """The path of the file with the records of a split; the file may not exist."""
        return self.folder / f"{split}_data_processed.jsonl"

    def processed(self, split: str) -> Iterable[Processed]:
        """The records of a split. Raises DataError if the split does not exist."""
        if split not in self.splits:
            there = ", ".join(self.splits) or "none"
            lost = f" (no file {self.split_file(split)})" if split in _SPLITS else ""
            raise DataError(f"{self.name} has no split {split!r} here: there are {there}{lost}")
        return (row for _, row in read_rows(self.split_file(split), Processed))

    @cached_property
    def entities(self) -> Mapping[str, int]:
        """Entity numbers by name."""
        return read_json_file(self.folder / "entity2id.json", _NUMBERS)

    @cached_property
    def entity_names(self) -> Mapping[int, str]:
        """Entity names by number."""
        return {number: name for name, number in self.entities.items()}

    @cached_property
    def item_entities(self) -> tuple[int, ...]:
        """The entities that can be recommended, in the order of item_ids.json."""
        numbers: list[int] = read_json_file(self.folder / "item_ids.json", _LIST)
        return tuple(numbers)

    @cached_property
    def infos(self) -> Mapping[str, Info]:
        """The records of id2info.json by its keys (in ReDial, the original film ids)."""
        return read_json_file(self.folder / "id2info.json", _INFOS)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The items; their ids are entity numbers as strings."""
        mentions = self._mentions()
        items: dict[int, Item] = {}
        for info in self.infos.values():
            number = self.entities.get(info.name)
            if number is not None and number not in items:
                items[number] = _item(number, info, mentions[info.name])
        recommendable = [
            items.get(number) or self._bare(number, mentions) for number in self.item_entities
        ]
        chosen = set(self.item_entities)
        beyond = (item for number, item in items.items() if number not in chosen)
        # ReDial is about films only; what its data lack there are directors and actors.
        books = (item for item in items.values() if self.name == "opendialkg" and _is_book(item))
        others = {item.id: known_domain(BOOK) for item in books}
        return Catalogue(self.name, recommendable, beyond=beyond, others=others)

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """The knowledge graph of kg.json, with heads in the order of the entities."""
        heads = read_json_file(self.folder / "kg.json", _TRIPLES)
        relations = read_json_file(self.folder / "relation2id.json", _NUMBERS)
        items = [
            self.catalogue.item(key)
            for key in map(str, self.entities.values())
            if key in self.catalogue
        ]
        return KnowledgeGraph(
            entities=sorted(self.entities, key=self.entities.__getitem__),
            relations=sorted(relations, key=relations.__getitem__),
            triples=(
                Triple(number, relation, tail)
                for number in self.entities.values()
                for relation, tail in heads.get(str(number), ())
            ),
            item_ids={int(item.id): item.id for item in items},
            item_entities=self.item_entities,
            years={int(item.id): item.year for item in items if item.year is not None},
            weights={int(item.id): item.popularity or 0.0 for item in items},
        )

    def ref(self, entity: int) -> ItemRef:
        """A reference to the item of this entity; the id is None if the catalogue has no such item.

        The name is then that of the entity, or `entity 123` for an unknown number.
        """
        if str(entity) in self.catalogue:
            return self.catalogue.item(str(entity)).ref
        return ItemRef(id=None, name=self.entity_names.get(entity, f"entity {entity}"))

    def _bare(self, number: int, mentions: Mapping[str, int]) -> Item:
        name = self.entity_names.get(number)
        if name is None:
            raise DataError(
                f"item {number} is not an entity in entity2id.json",
                path=self.folder / "item_ids.json",
            )
        return _item(number, Info(name=name), mentions.get(name, 0))

    def _mentions(self) -> Counter[str]:
        """How many conversations between people name each item; the test split is left out."""
        return self._mentions_by_id() if self.name == "redial" else self._mentions_by_entity()

    def _mentions_by_id(self) -> Counter[str]:
        """Counted by the `@id` marks that the speakers set in the validation conversations.

        The `entity` lists are not used: they contain false matches ("Eve" in "never").
        """
        counts: Counter[str] = Counter()
        for _, row in read_rows(self.folder / "valid_data.jsonl", _Conversation):
            films = {film for said in row.messages for film in _NAMED_ID.findall(said.text)}
            counts.update({self.infos[film].name for film in films if film in self.infos})
        return counts

    def _mentions_by_entity(self) -> Counter[str]:
        """Counted by the names in training dialogues that have no turn in the test split."""
        tested = read_json_file(self.folder / "test_data_id.json", _NAMES)
        dialogues = {record.rpartition("_")[0] for record in tested}
        named: dict[str, set[str]] = {}
        for row in self.processed("train"):
            if str(row.dialog_id) not in dialogues:
                named.setdefault(str(row.dialog_id), set()).update(row.entity, row.rec)
        return Counter(name for names in named.values() for name in names)


def _is_book(item: Item) -> bool:
    """Whether the item has writers, but neither directors nor actors."""
    return bool(item.writers) and not (item.directors or item.actors)


def _item(number: int, info: Info, mentions: int) -> Item:
    title, year = split_year(info.name)
    if year is None and info.year is not None and _PLAUSIBLE_YEAR.fullmatch(info.year):
        year = int(info.year)
    return Item(
        id=str(number),
        name=info.name,
        title=title,
        year=year,
        genres=tuple(dict.fromkeys(info.genre)),
        directors=tuple(dict.fromkeys(info.director)),
        actors=tuple(dict.fromkeys(info.actor or info.star)),
        writers=tuple(dict.fromkeys(info.writer)),
        languages=tuple(dict.fromkeys(info.language)),
        plot=info.plot,
        popularity=float(mentions),
    )
