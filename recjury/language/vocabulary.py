"""The word lists that utterances are read with, from `vocabulary.yaml`."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml

from recjury.records import Attribute


@cache
def _lists() -> Mapping[str, Any]:
    file = resources.files("recjury.language") / "vocabulary.yaml"
    lists: Mapping[str, Any] = yaml.load(file.read_text("utf-8"), Loader=yaml.CSafeLoader)
    return lists


@cache
def words(name: str) -> frozenset[str]:
    """A list of single words."""
    return frozenset(str(_lists()[name]).split())


@cache
def phrases(name: str) -> tuple[str, ...]:
    """A list of phrases, the longest first."""
    found = (" ".join(each.split()) for each in str(_lists()[name]).split("|"))
    return tuple(sorted(found, key=lambda each: (-len(each), each)))


@cache
def spoken_values() -> Mapping[str, tuple[Attribute, ...]]:
    """The attributes that a word or phrase may mean, by how people say them."""
    found: dict[str, list[Attribute]] = {}
    for kind, values in _lists()["values"].items():
        for value, spoken in values.items():
            for each in spoken:
                found.setdefault(str(each), []).append(Attribute(kind, str(value)))
    return {spoken: tuple(meant) for spoken, meant in found.items()}


@cache
def decades() -> Mapping[str, int]:
    """The first years of decades by their names ("seventies": 1970)."""
    return {str(name): int(year) for name, year in _lists()["decades"].items()}


@cache
def genre_names() -> Mapping[str, str]:
    """The name by which a genre is compared, by the words of catalogues."""
    return {word: genre for genre, named in _lists()["genres"].items() for word in named}
