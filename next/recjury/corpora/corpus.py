"""A corpus: a domain, a catalogue, and the scenarios from which conversations start."""

import json
from functools import cached_property
from importlib import resources
from typing import Any, NamedTuple

import yaml

from recjury.corpora.catalogue import Catalogue, Item
from recjury.errors import UserError
from recjury.records import Record, Scenario, Turn, digest


class Domain(Record):
    """What the items are, in words: "film", "films", to "watch"."""

    model_config = {"frozen": True, "extra": "ignore"}

    item: str
    items: str
    verb: str
    done: str


class Corpus(NamedTuple):
    """Scenarios over a catalogue."""

    name: str
    domain: Domain
    catalogue: Catalogue
    scenarios: tuple[Scenario, ...]

    @property
    def digest(self) -> str:
        """The identity of the catalogue: what evaluators and systems can see of the corpus."""
        return self.catalogue.digest


def open_corpus(name: str) -> Corpus:
    """The corpus with that name. Raises UserError if there is none."""
    if name != "sample":
        raise UserError(f"there is no corpus {name!r}: corpora are sample")
    return _Sample().corpus


class _Sample:
    """The corpus that ships: scenarios end before a system turn that recommends something new."""

    _FIELDS = {"genres": "genre", "directors": "director", "writers": "writer", "actors": "actor"}

    @cached_property
    def corpus(self) -> Corpus:
        rows = [row for row in self._rows("dialogues.jsonl") if row["split"] == "test"]
        scenarios = tuple(scenario for row in rows if (scenario := self._scenario(row)))
        domain = Domain.model_validate(yaml.safe_load(self._read("domains/film.yaml")))
        return Corpus("sample", domain, self.catalogue, scenarios)

    @cached_property
    def catalogue(self) -> Catalogue:
        return Catalogue(
            Item(
                id=row["id"],
                name=row["title"],
                year=row["year"],
                attributes={name: tuple(row[key]) for key, name in self._FIELDS.items()},
                description=row["plot"],
                popularity=row["popularity"],
            )
            for row in self._rows("films.jsonl")
        )

    def _scenario(self, row: dict[str, Any]) -> Scenario | None:
        seen: set[str] = set()
        for number, turn in enumerate(row["turns"]):
            new = [film for film in turn["films"] if film not in seen]
            if turn["role"] == "system" and new and number:
                return Scenario(
                    id=f"{row['id']}_1",
                    corpus="sample",
                    history=tuple(map(self._turn, row["turns"][:number])),
                    targets=tuple(map(self.catalogue.resolve, new)),
                )
            seen.update(turn["films"])
        return None

    def _turn(self, row: dict[str, Any]) -> Turn:
        items = tuple(map(self.catalogue.resolve, row["films"]))
        return Turn(speaker=row["role"], text=row["text"], items=items)

    def _rows(self, file: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._read(f"sample/{file}").splitlines()]

    def _read(self, path: str) -> str:
        return resources.files(__package__).joinpath(path).read_text("utf-8")
