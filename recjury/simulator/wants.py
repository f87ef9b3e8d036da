"""What the rule user wants: attributes of its targets, or its wishes, as people say them."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict

from recjury.knowledge import BOOK, FILM, attributes_of, plain_value
from recjury.records import Act, Attribute, DeclaredAct, Domain, Item

Form = Literal["before", "noun", "behind"]
"""Where the words of a want stand: before the word for an item, instead of it, or behind it."""

_MOST_OF_A_KIND = 2
_ITEMS_KEPT = 4096


class CategoryNoun(BaseModel):
    """A word for an item of some category, such as "comedy", and its plural."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    one: str
    many: str


class Words(BaseModel):
    """The words for attribute values, read from `words.yaml`, which explains them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    genres: dict[str, str]
    alone: dict[str, CategoryNoun]
    nouns: dict[str, str]
    near: list[list[str]]


@cache
def words() -> Words:
    """The words of the package."""
    text = Path(__file__).with_name("words.yaml").read_text("utf-8")
    return Words.model_validate(yaml.safe_load(text))


class Want(NamedTuple):
    """One thing that the user wants.

    `value` is what it is called by itself ("crime", "Al Pacino", "the 90s"), `words` how it stands
    beside the word for an item ("with Al Pacino"). It is an `attribute` in the catalogue's
    spelling, or an `item`, by id, that others should be like.
    """

    value: str
    words: str
    form: Form
    attribute: Attribute | None = None
    item: str | None = None

    @property
    def act(self) -> DeclaredAct:
        """The act of saying it."""
        kind, value = self.attribute or ("", "")
        return DeclaredAct(act=Act.WISH, item=self.item, attribute=kind, value=value)

    @property
    def is_category(self) -> bool:
        """Whether it is a word for a kind of item, such as a genre."""
        return self.form != "behind"

    @property
    def sort(self) -> str:
        """Of which sort it is: values of one sort are alternatives to each other."""
        return "category" if self.is_category or self.attribute is None else self.attribute.kind


def like(item: Item) -> Want:
    """The wish for something like an item."""
    return Want(item.title, f"like {item.title}", "behind", item=item.id)


def want_of(attribute: Attribute, domain: Domain) -> Want | None:
    """An attribute as people say it; None for one that nobody says."""
    kind, value = attribute
    if kind in ("decade", "year"):
        decade = spoken_decade(int(value[:4]))
        return Want(decade, f"from {decade}", "behind", Attribute("decade", f"{value[:3]}0s"))
    described = domain.attribute(kind)
    if described is None:
        return None
    if described.kind in ("maker", "cast"):
        name = value.partition(" (")[0]
        by = described.by or ("by" if described.kind == "maker" else "with")
        return Want(name, f"{by} {name}", "behind", attribute)
    if described.name == "genre" and domain.name in (FILM, BOOK):
        spoken = words().genres.get(plain_value(value))
        return Want(spoken, spoken, "before", attribute) if spoken else None
    if words().nouns.get(domain.name) == kind:
        return Want(value, value, "noun", attribute)
    if described.by:
        plain = value.removesuffix(" Language").removesuffix(" language")
        return Want(plain, f"{described.by} {plain}", "behind", attribute)
    return Want(value, value, "before", attribute)


@lru_cache(_ITEMS_KEPT)
def wants_of(item: Item, domain: Domain) -> tuple[Want, ...]:
    """What one can want of an item, in the domain's order; no year beside its decade.

    English is left out: who asks in English means it anyway.
    """
    found = (
        want_of(each, domain)
        for each in attributes_of(item, domain)
        if each.kind != "year" and not (each.kind == "language" and "English" in each.value)
    )
    by_value: dict[str, Want] = {}
    for want in found:
        if want is not None:
            by_value.setdefault(want.value.lower(), want)
    return tuple(by_value.values())


@lru_cache(_ITEMS_KEPT)
def categories(item: Item, domain: Domain) -> tuple[Want, ...]:
    """The kinds of items that the item is."""
    return tuple(want for want in wants_of(item, domain) if want.is_category)


def agenda(item: Item, domain: Domain, draw: Random) -> tuple[Want, ...]:
    """What is told of an item, in order: a category, then era, people and others, then more."""
    kinds = [want for want in wants_of(item, domain) if want.is_category]
    others: dict[str, list[Want]] = {}
    for want in wants_of(item, domain):
        if not want.is_category and want.attribute is not None:
            others.setdefault(want.attribute.kind, []).append(want)
    groups = [found[:_MOST_OF_A_KIND] for found in others.values()]
    draw.shuffle(groups)
    later = [want for group in groups for want in group[1:]]
    return (*kinds[:1], *(group[0] for group in groups), *kinds[1:2], *later, *kinds[2:3])


def is_near(one: str, other: str) -> bool:
    """Whether two categories hardly differ ("music", "musical")."""
    return one == other or (one, other) in _near()


@cache
def _near() -> frozenset[tuple[str, str]]:
    return frozenset(pair for group in words().near for pair in permutations(group, 2))


def plural(want: Want, domain: Domain) -> str:
    """Items of a category: "comedies", "crime films"."""
    alone = words().alone.get(want.value)
    if alone is not None:
        return alone.many
    return want.value if want.form == "noun" else f"{want.value} {domain.items}"


def thing(wants: Sequence[Want], domain: Domain) -> str:
    """An item that has all of these: "a crime film from the 90s", "something like Heat"."""
    return " ".join((_kind(wants, domain), *(w.words for w in wants if w.form == "behind")))


def _kind(wants: Sequence[Want], domain: Domain) -> str:
    before = [want.value for want in wants if want.form == "before"]
    noun = next((want.value for want in wants if want.form == "noun"), "")
    if not before and not noun:
        return "something"
    if before and not noun and before[-1] in words().alone:
        noun = words().alone[before.pop()].one
    if noun.endswith("s"):  # "headphones"
        return " ".join((*before, noun))
    return _with_article(" ".join((*before, noun or domain.item)))


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def a_noun(domain: Domain) -> str:
    """The word for one item with its article: "a film", "an album"."""
    return _with_article(domain.item)


def spoken_decade(year: int) -> str:
    """The year's decade: "the 90s", "the 2010s"."""
    first = year // 10 * 10
    return f"the {first % 100}s" if 1930 <= first <= 1990 else f"the {first}s"


def spoken_genres(item: Item) -> Iterator[str]:
    """The item's genres as people say them; genres without a spoken form are left out."""
    known = words().genres
    return (known[plain] for plain in map(plain_value, item.genres) if plain in known)
