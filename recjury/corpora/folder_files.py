"""The files of a corpus in a folder: films.jsonl or items.jsonl, and dialogues.jsonl."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from recjury.corpora.json_rows import ClosedRow
from recjury.errors import DataError
from recjury.input_files import read_rows
from recjury.knowledge import FILM, Catalogue, KnowledgeGraph, Triple, known_domain
from recjury.records import Domain, DomainAttribute, Item
from recjury.records.item import ITEM_FIELDS

Split = Literal["train", "valid", "test"]

LITTLE_KNOWN_BELOW = 37.0


class Film(ClosedRow):
    """One line of films.jsonl. `popularity` is an estimate from 1 (hardly known) to 100."""

    id: str = Field(min_length=1)
    title: str = Field(min_length=1)
    year: int | None = None
    genres: list[str] = Field(default_factory=list)
    directors: list[str] = Field(default_factory=list)
    writers: list[str] = Field(default_factory=list)
    actors: list[str] = Field(default_factory=list)
    languages: list[str] = Field(default_factory=list)
    plot: str = ""
    popularity: float | None = Field(default=None, ge=1, le=100)


class ItemRow(ClosedRow):
    """One line of items.jsonl. Its other keys are the fields of the domain's attributes."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str | list[str]]

    id: str = Field(min_length=1)
    title: str = Field(min_length=1)
    year: int | None = None
    plot: str = ""
    popularity: float | None = Field(default=None, ge=1, le=100)


class DialogueTurn(BaseModel):
    """One turn: speaker, text, the ids of the items it names, and of those that the user likes.

    The key of the items is `films` or `items`.
    """

    role: Literal["user", "system"]
    text: str
    items: list[str] = Field(default_factory=list, validation_alias=AliasChoices("films", "items"))
    likes: list[str] = Field(default_factory=list)


class Dialogue(ClosedRow):
    """One line of dialogues.jsonl; its turns alternate."""

    id: str = Field(min_length=1)
    split: Split
    turns: list[DialogueTurn] = Field(min_length=1)


def read_films(path: Path, name: str) -> Catalogue:
    """films.jsonl as a catalogue. A film is named by title and year, which must be unique."""
    rows = [(line, _film(film)) for line, film in read_rows(path, Film)]
    return _catalogue(path, name, known_domain(FILM), rows)


def read_items(path: Path, name: str, domain: Domain) -> Catalogue:
    """items.jsonl as a catalogue. An item is named by its title, and by its year, too, if several
    items have the title."""
    rows = list(read_rows(path, ItemRow))
    titles = Counter(row.title for _, row in rows)
    items = []
    for line, row in rows:
        fault = _unknown_field(row, domain)
        if fault:
            raise DataError(fault, path=path, line=line)
        items.append((line, _item(row, dated=titles[row.title] > 1)))
    return _catalogue(path, name, domain, items)


def _catalogue(
    path: Path, name: str, domain: Domain, rows: Sequence[tuple[int, Item]]
) -> Catalogue:
    items: dict[str, Item] = {}
    names: dict[str, int] = {}
    for line, item in rows:
        if item.id in items:
            message = f"a second {domain.item} with the id {item.id!r}"
            raise DataError(message, path=path, line=line)
        if item.name in names:
            raise DataError(
                f"a second {domain.item} called {item.name!r} "
                f"(the first is in line {names[item.name]})",
                path=path,
                line=line,
            )
        items[item.id] = item
        names[item.name] = line
    if not items:
        raise DataError(f"holds no {domain.item}", path=path)
    if not any(domain.describes(item) for item in items.values()):
        fields = ", ".join(each.field for each in domain.attributes)
        raise DataError(f"no {domain.item} has any attribute: give some of {fields}", path=path)
    return Catalogue(name, items.values(), known_from=LITTLE_KNOWN_BELOW, domain=domain)


def read_dialogues(path: Path, catalogue: Catalogue) -> list[Dialogue]:
    """dialogues.jsonl. Raises DataError for an unknown item or turns that do not alternate."""
    lines: dict[str, int] = {}
    dialogues: list[Dialogue] = []
    for line, dialogue in read_rows(path, Dialogue):
        fault = _fault(dialogue, catalogue)
        if dialogue.id in lines:
            fault = f"a second dialogue {dialogue.id!r}, as in line {lines[dialogue.id]}"
        if fault:
            raise DataError(fault, path=path, line=line)
        lines[dialogue.id] = line
        dialogues.append(dialogue)
    if not dialogues:
        raise DataError("holds no dialogue", path=path)
    return dialogues


def build_graph(catalogue: Catalogue) -> KnowledgeGraph:
    """The items with their people, categories and decades, as a graph.

    The first entities are the items, in the order of the catalogue. The others follow in the order
    in which they first occur. A person is one entity in all roles.
    """
    numbers = {item.name: number for number, item in enumerate(catalogue)}
    attributes = _in_graph(catalogue.domain)
    triples: list[Triple] = []
    for head, item in enumerate(catalogue):
        for relation, attribute in enumerate(attributes):
            tails = attribute.of(item)
            if attribute.kind == "era":
                tails = tuple(f"{int(year) // 10 * 10}s" for year in tails)
            triples.extend(
                Triple(head, relation, numbers.setdefault(tail, len(numbers))) for tail in tails
            )
    categories = [each.name for each in attributes if each.kind == "category"]
    items = list(catalogue)
    return KnowledgeGraph(
        entities=tuple(numbers),
        relations=[_relation(each) for each in attributes],
        triples=triples,
        item_ids={number: item.id for number, item in enumerate(items)},
        item_entities=range(len(items)),
        plain=(*categories, "decade"),
        years={n: item.year for n, item in enumerate(items) if item.year is not None},
        weights={n: item.popularity or 0.0 for n, item in enumerate(items)},
    )


def _in_graph(domain: Domain) -> tuple[DomainAttribute, ...]:
    """The attributes that are relations of the graph: all but languages, years at the end."""
    others = (each for each in domain.attributes if each.kind != "era" and each.name != "language")
    return (*others, *domain.of_kind("era")[:1])


def _relation(attribute: DomainAttribute) -> str:
    return "decade" if attribute.kind == "era" else attribute.name


def _film(film: Film) -> Item:
    return Item(
        id=film.id,
        name=film.title if film.year is None else f"{film.title} ({film.year})",
        title=film.title,
        year=film.year,
        genres=tuple(film.genres),
        directors=tuple(film.directors),
        actors=tuple(film.actors),
        writers=tuple(film.writers),
        languages=tuple(film.languages),
        plot=film.plot,
        popularity=film.popularity,
    )


def _item(row: ItemRow, *, dated: bool) -> Item:
    values = {
        field: (given,) if isinstance(given, str) else tuple(given)
        for field, given in (row.model_extra or {}).items()
    }
    own = {field: values.pop(field) for field in ITEM_FIELDS if field in values}
    return Item(
        id=row.id,
        name=f"{row.title} ({row.year})" if dated and row.year is not None else row.title,
        title=row.title,
        year=row.year,
        plot=row.plot,
        popularity=row.popularity,
        attributes=tuple(sorted(values.items())),
        **own,
    )


def _unknown_field(row: ItemRow, domain: Domain) -> str:
    """What is wrong with a line that has a key that is no attribute; empty if nothing is."""
    fields = [each.field for each in domain.attributes]
    unknown = next((key for key in row.model_extra or {} if key not in fields), None)
    if unknown is None:
        return ""
    return f"unknown key {unknown!r}: domain.yaml names the fields {', '.join(fields)}"


def _fault(dialogue: Dialogue, catalogue: Catalogue) -> str:
    for number, said in enumerate(dialogue.turns, start=1):
        for item in (*said.items, *said.likes):
            if item not in catalogue:
                word = catalogue.domain.item
                file = "films.jsonl" if word == FILM else "items.jsonl"
                return f"turn {number} names the {word} {item!r}, which {file} does not have"
    for number, (one, two) in enumerate(pairwise(dialogue.turns), start=1):
        if one.role == two.role:
            return f"turns {number} and {number + 1} are both by the {one.role}: join them"
    return ""
