"""The corpus that ships: films and short dialogues, written for recjury."""

import functools
import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

import yaml

from recjury.corpora.catalogue import Catalogue, Item
from recjury.corpora.corpus import Corpus, Domain
from recjury.records import Scenario, Turn

_ATTRIBUTES = {"genre": "genres", "director": "directors", "writer": "writers", "actor": "actors"}


@functools.cache
def sample() -> Corpus:
    """The sample, with a scenario for each dialogue of its test split."""
    domain = Domain.model_validate(yaml.safe_load(_text("domains/film.yaml")))
    catalogue = Catalogue(map(_item, _rows("sample/films.jsonl")))
    dialogues = [row for row in _rows("sample/dialogues.jsonl") if row["split"] == "test"]
    scenarios = (_scenario(dialogue, catalogue) for dialogue in dialogues)
    return Corpus("sample", domain, catalogue, tuple(filter(None, scenarios)))


def _item(row: dict[str, Any]) -> Item:
    return Item(
        id=row["id"],
        name=row["title"],
        year=row["year"],
        attributes={name: tuple(row[key]) for name, key in _ATTRIBUTES.items()},
        description=row["plot"],
        popularity=row["popularity"],
    )


def _scenario(dialogue: dict[str, Any], catalogue: Catalogue) -> Scenario | None:
    """The dialogue up to the first system turn that recommends something new; that is the target.

    None if there is no such turn.
    """
    seen: set[str] = set()
    for number, turn in enumerate(dialogue["turns"]):
        new = [film for film in turn["films"] if film not in seen]
        if turn["role"] == "system" and new and number:
            return Scenario(
                id=f"{dialogue['id']}_1",
                corpus="sample",
                history=tuple(_turn(each, catalogue) for each in dialogue["turns"][:number]),
                targets=tuple(map(catalogue.resolve, new)),
            )
        seen.update(turn["films"])
    return None


def _turn(row: dict[str, Any], catalogue: Catalogue) -> Turn:
    items = tuple(map(catalogue.resolve, row["films"]))
    return Turn(speaker=row["role"], text=row["text"], items=items)


def _rows(file: str) -> Iterator[dict[str, Any]]:
    return map(json.loads, filter(None, _text(file).split("\n")))


def _text(file: str) -> str:
    return resources.files(__package__).joinpath(file).read_text("utf-8")
