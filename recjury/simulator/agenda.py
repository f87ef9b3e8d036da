"""The attributes of a target that the rule user reveals, one after the other."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict

from recjury.records import Item

ConstraintKind = Literal["genre", "era", "actor", "director", "writer", "language", "wish"]

_CATALOGUE_WORDS = re.compile(r"\s*(?:\b(?:film|movie|fiction)s?\b|\([^)]*\)|#\d+)", re.IGNORECASE)
_MOST_OF_A_KIND = 2


class Constraint(NamedTuple):
    """One wish of the user in spoken words: ("era", "the 90s")."""

    kind: ConstraintKind
    value: str


class Phrases(BaseModel):
    """The phrases of the rule user, read from `phrases.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    genres: dict[str, str]
    greeting: list[str]
    opening: list[str]
    wish: dict[str, list[str]]
    reveal: dict[str, list[str]]
    answer: dict[str, list[str]]
    indifferent: dict[str, list[str]]
    known: list[str]
    mismatch: dict[str, list[str]]
    unfit: list[str]
    nameless: list[str]
    introduce_named: list[str]
    introduce: list[str]
    more: list[str]
    accept: list[str]
    exhausted: list[str]


@cache
def phrases() -> Phrases:
    """The phrases of the package."""
    text = Path(__file__).with_name("phrases.yaml").read_text("utf-8")
    return Phrases.model_validate(yaml.safe_load(text))


def agenda(item: Item | None, wishes: Sequence[str]) -> tuple[Constraint, ...]:
    """The attributes to reveal, vague ones first: a genre, the decade, then people.

    If the item is unknown or has no attributes, the `wishes` are used instead.
    """
    if item is None:
        return tuple(Constraint("wish", wish) for wish in wishes)
    genres = [Constraint("genre", genre) for genre in spoken_genres(item)[: _MOST_OF_A_KIND + 1]]
    actors = [Constraint("actor", name) for name in _distinct(item.actors)[:_MOST_OF_A_KIND]]
    directors = [Constraint("director", name) for name in _distinct(item.directors)[:1]]
    written = _distinct(name for name in item.writers if name not in item.directors)
    writers = [Constraint("writer", name) for name in written[:1]]
    decade = decade_of(item)
    eras = [Constraint("era", decade)] if decade else []
    ordered = (
        *genres[:1],
        *eras,
        *actors[:1],
        *directors,
        *genres[1:2],
        *actors[1:],
        *writers,
        *genres[2:],
    )
    return ordered or tuple(Constraint("wish", wish) for wish in wishes)


def spoken_genres(item: Item) -> tuple[str, ...]:
    """The item's genres as people say them; genres without a spoken form are left out."""
    known = phrases().genres
    plain = (_CATALOGUE_WORDS.sub("", genre).strip().lower() for genre in item.genres)
    return _distinct(known[genre] for genre in plain if genre in known)


def decade_of(item: Item) -> str | None:
    """The item's decade as it is spoken: "the 90s", "the 2010s"; None without a year."""
    if item.year is None:
        return None
    decade = item.year // 10 * 10
    return f"the {decade % 100}s" if 1930 <= decade <= 1990 else f"the {decade}s"


def noun_of(item: Item | None) -> str:
    """ "book" if the item has writers but no actors or directors, else "film"."""
    is_book = item is not None and item.writers and not (item.actors or item.directors)
    return "book" if is_book else "film"


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
