"""The two files of a catalogue-and-dialogues folder: films.jsonl and dialogues.jsonl."""

from itertools import pairwise
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from recjury.corpora.lines import read_rows
from recjury.errors import DataError
from recjury.knowledge import Catalogue, KnowledgeGraph, Triple
from recjury.records import Item

Split = Literal["train", "valid", "test"]

LITTLE_KNOWN_BELOW = 37.0

RELATIONS = ("genre", "director", "actor", "writer", "decade")


class Film(BaseModel):
    """One line of films.jsonl. `popularity` is an estimate from 1 (hardly known) to 100."""

    model_config = ConfigDict(strict=True, extra="forbid")

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


class DialogueTurn(BaseModel):
    """One turn: speaker, text, the ids of the films it names, and of those that the user likes."""

    model_config = ConfigDict(strict=True, extra="forbid")

    role: Literal["user", "system"]
    text: str
    films: list[str] = Field(default_factory=list)
    likes: list[str] = Field(default_factory=list)


class Dialogue(BaseModel):
    """One line of dialogues.jsonl; its turns alternate."""

    model_config = ConfigDict(strict=True, extra="forbid")

    id: str = Field(min_length=1)
    split: Split
    turns: list[DialogueTurn] = Field(min_length=1)


def read_catalogue(path: Path, name: str) -> Catalogue:
    """films.jsonl as a catalogue. A film is named by title and year, which must be unique."""
    items: dict[str, Item] = {}
    names: dict[str, int] = {}
    for line, film in read_rows(path, Film):
        if film.id in items:
            raise DataError(f"a second film with the id {film.id!r}", path=path, line=line)
        item = _item(film)
        if item.name in names:
            raise DataError(
                f"a second film called {item.name!r} (the first is in line {names[item.name]})",
                path=path,
                line=line,
            )
        items[film.id] = item
        names[item.name] = line
    if not items:
        raise DataError("holds no film", path=path)
    return Catalogue(name, items.values(), known_from=LITTLE_KNOWN_BELOW)


def read_dialogues(path: Path, catalogue: Catalogue) -> list[Dialogue]:
    """dialogues.jsonl. Raises DataError for an unknown film or turns that do not alternate."""
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
    """The films with their people, genres and decades, as a graph.

    The first entities are the films, in the order of the catalogue. The others follow in the order
    in which they first occur. A person is one entity in all roles.
    """
    numbers = {item.name: number for number, item in enumerate(catalogue)}
    triples: list[Triple] = []
    for head, item in enumerate(catalogue):
        decade = () if item.year is None else (f"{item.year // 10 * 10}s",)
        values = (item.genres, item.directors, item.actors, item.writers, decade)
        for relation, tails in enumerate(values):
            triples.extend(
                Triple(head, relation, numbers.setdefault(tail, len(numbers))) for tail in tails
            )
    items = list(catalogue)
    return KnowledgeGraph(
        entities=tuple(numbers),
        relations=RELATIONS,
        triples=triples,
        item_ids={number: item.id for number, item in enumerate(items)},
        item_entities=range(len(items)),
        plain=("genre", "decade"),
        years={n: item.year for n, item in enumerate(items) if item.year is not None},
        weights={n: item.popularity or 0.0 for n, item in enumerate(items)},
    )


def _item(film: Film) -> Item:
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


def _fault(dialogue: Dialogue, catalogue: Catalogue) -> str:
    for number, said in enumerate(dialogue.turns, start=1):
        for film in (*said.films, *said.likes):
            if film not in catalogue:
                return f"turn {number} names the film {film!r}, which films.jsonl does not have"
    for number, (one, two) in enumerate(pairwise(dialogue.turns), start=1):
        if one.role == two.role:
            return f"turns {number} and {number + 1} are both by the {one.role}: join them"
    return ""
