"""What the rule user wants: the values of its targets, or its wishes, as people say them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from random import Random
from typing import Literal, NamedTuple

from recjury.knowledge import BOOK, FILM, Catalogue, fold
from recjury.knowledge.ordinary_words import is_ordinary_word, word_list
from recjury.records import Attribute, Domain, DomainAttribute, Item, Person
from recjury.simulator.grammar import phrases

Role = Literal["category", "other", "era", "cast", "maker", "like", "ask", "clause"]

_CATALOGUE_WORDS = re.compile(r"\s*(?:\b(?:film|movie|fiction)s?\b|\([^)]*\)|#\d+)", re.IGNORECASE)
_LANGUAGE_WORDS = re.compile(r"\s*\blanguages?\b", re.IGNORECASE)
_BRACKETS = re.compile(r"\s*\([^)]*\)")
_ABOUT = re.compile(r"something (?=(?:about|for|set|with|without) )")
_MOST_OF_A_KIND = 2
_ENOUGH_ITEMS = 12
_OFTEN = 7
_DECADES = range(1880, 2100, 10)
_RECENT = 2000


class Want(NamedTuple):
    """One thing that the user wants, as it is spoken.

    `role` says how: a category before the item ("comedy"), an era ("the 90s"), people (cast,
    maker), `other` attributes with their preposition ("in French"), an item to be `like`, or the
    person's own words: for an item (`ask`: "a film for kids"), or a whole `clause` ("I want to
    laugh"). `by` stands before a value, `word` is what the attribute is called.
    """

    role: Role
    value: str
    by: str = ""
    word: str = ""


def is_about(want: Want) -> bool:
    """Whether a wish in the person's own words can stand behind a kind of item."""
    return want.role == "ask" and _ABOUT.match(want.value) is not None


class Aim(NamedTuple):
    """What the user is after: its wants, vague ones first, and the year and categories to meet."""

    wants: tuple[Want, ...]
    year: int | None
    categories: frozenset[str]


def behind_kind(want: Want) -> str:
    """What stands behind a kind of item of a wish of which `is_about` holds: "about boxing"."""
    return _ABOUT.sub("", want.value)


class CatalogueValues:
    """The values of a catalogue as people say them, and which items have each."""

    def __init__(self, catalogue: Catalogue):
        """Read the values of every item; it takes about 0.02 ms for each."""
        self._catalogue = catalogue
        self._held: dict[str, set[str]] = {}
        self._together: Counter[tuple[str, str]] = Counter()  # items with both categories
        self._people: dict[str, Want] = {}  # by the letters of their names
        self._surnames: dict[str, set[str]] = {}
        for item in catalogue:
            wants = list(spoken(item, catalogue.domain_of(item)))
            categories = [want.value for want in wants if want.role == "category"]
            self._together.update(product(categories, categories))
            for want in wants:
                held = self._held.setdefault(fold(want.value), set())
                if len(held) < _ENOUGH_ITEMS:
                    held.add(item.id)
                if want.role in ("cast", "maker"):
                    name = letters(want.value)
                    self._people.setdefault(name, want)
                    self._surnames.setdefault(name.rpartition(" ")[2], set()).add(name)

    def of(self, item: Item) -> list[str]:
        """The item's values."""
        return [want.value for want in spoken(item, self._catalogue.domain_of(item))]

    def person(self, words: Sequence[str], *, starts: bool = False) -> Want | None:
        """Who these words name: a full name, or a surname that one person has ("Hitchcock").

        A surname alone needs a capital, and more than that where it `starts` a sentence.
        """
        name = letters(" ".join(words))
        if len(words) > 1:
            return self._people.get(name)
        known = self._surnames.get(name, set())
        plain = name in word_list("common") or is_ordinary_word(name)
        if len(known) != 1 or starts or plain or not words[0][:1].isupper():
            return None
        want = self._people[next(iter(known))]
        return want._replace(value=words[0].strip(".")) if " " in letters(want.value) else None

    def number_with(self, value: str) -> int:
        """How many items have the value, a dozen at most."""
        return len(self._held.get(fold(value), ()))

    def is_common(self, value: str) -> bool:
        """Whether at least a dozen items have the value."""
        return self.number_with(value) >= _ENOUGH_ITEMS

    def often_together(self, first: str, second: str) -> bool:
        """Whether at least a seventh of the items with one category have the other, too."""
        with_both = self._together[first, second]
        return with_both > 0 and with_both * _OFTEN >= self._together[first, first]

    def gives_away(self, value: str, targets: frozenset[str]) -> bool:
        """Whether only targets have the value; False for a value that no item has."""
        held = self._held.get(fold(value), set())
        return bool(held) and held <= targets


def aim_of(
    person: Person,
    targets: Sequence[Item],
    scenario_wishes: Sequence[str],
    domain: Domain,
    draw: Random,
) -> Aim:
    """What a person wants: the attributes of the target with most of them, or its own wishes."""
    if person.knows == "wishes":
        return _wished(person.wishes, domain)
    item = max(targets, key=lambda each: len(list(spoken(each, domain))), default=None)
    if item is None:
        wants = tuple(Want("ask", wish) for wish in scenario_wishes)
        return Aim(wants, None, frozenset())
    wants = agenda(item, domain, draw)
    return Aim(wants, item.year, frozenset(spoken_categories(item, domain)))


def agenda(item: Item, domain: Domain, draw: Random) -> tuple[Want, ...]:
    """The values of an item to reveal: a category, then era and people in any order, then more."""
    by_role: dict[Role, list[Want]] = {}
    for want in spoken(item, domain):
        by_role.setdefault(want.role, []).append(want)
    first = [by_role.get(role, [])[:_MOST_OF_A_KIND] for role in ("cast", "maker", "era", "other")]
    draw.shuffle(first)
    categories = by_role.get("category", [])
    later = [values[1] for values in first if len(values) > 1]
    return (
        *categories[:1],
        *(values[0] for values in first if values),
        *categories[1:2],
        *later,
        *categories[2:3],
    )


def _wished(wishes: Sequence[Attribute], domain: Domain) -> Aim:
    wants: list[Want] = []
    year = None
    for wish in wishes:
        if wish.kind in ("decade", "year"):
            year = int(wish.value[:4])
            wants.append(Want("era", decade(year)))
            continue
        attribute = domain.attribute(wish.kind)
        if attribute is not None:
            wants += _spoken_value(attribute, wish.value, domain)
    categories = frozenset(want.value for want in wants if want.role == "category")
    return Aim(tuple(wants), year, categories)


def spoken(item: Item, domain: Domain) -> Iterator[Want]:
    """The item's values as people say them, those that nobody says left out, without repeats."""
    told: set[str] = set()
    for attribute in domain.attributes:
        if attribute.name == "language" and any("English" in each for each in attribute.of(item)):
            continue
        values = [
            want for value in attribute.of(item) for want in _spoken_value(attribute, value, domain)
        ]
        for want in values:
            if fold(want.value) not in told:
                told.add(fold(want.value))
                yield want


def _spoken_value(attribute: DomainAttribute, value: str, domain: Domain) -> Iterator[Want]:
    match attribute.kind:
        case "era":
            yield Want("era", decade(int(value[:4])), "from", "year")
        case "cast" | "maker":
            name = _BRACKETS.sub("", value).strip()
            yield Want(attribute.kind, name, attribute.by, attribute.word)
        case _ if attribute.name == "genre" and domain.name in (FILM, BOOK):
            plain = _CATALOGUE_WORDS.sub("", value).strip().lower()
            if plain in phrases().genres:
                yield Want("category", phrases().genres[plain], word=attribute.word)
        case _ if attribute.name == "language":
            language = _LANGUAGE_WORDS.sub("", value).strip()
            yield Want("other", f"in {language}", word=attribute.word)
        case _ if attribute == domain.of_kind("category")[0]:
            yield Want("category", value, word=attribute.word)
        case _:
            said = f"{attribute.by} {value}" if attribute.by else f"{value} {attribute.word}"
            yield Want("other", said, word=attribute.word)


def spoken_categories(item: Item, domain: Domain) -> tuple[str, ...]:
    """The item's categories as people say them; those without a spoken form are left out."""
    return tuple(want.value for want in spoken(item, domain) if want.role == "category")


def spoken_genres(item: Item) -> tuple[str, ...]:
    """The item's genres as people say them; genres without a spoken form are left out."""
    known = phrases().genres
    plain = (_CATALOGUE_WORDS.sub("", genre).strip().lower() for genre in item.genres)
    return _distinct(known[genre] for genre in plain if genre in known)


def time_phrases(era: str, years: Sequence[int]) -> list[str]:
    """What people say of a time instead of its name, beside suggestions of these `years`.

    Nobody asks for something recent who was offered what is newer still.
    """
    first = _first_year(era)
    if any(year >= first if _is_recent(era) else year < first + 10 for year in years):
        return []
    return phrases().times.get(era, [])


def is_of_time(era: str, times: frozenset[str]) -> bool:
    """Whether a decade is not the opposite of what was asked for: only "old", or only "new"."""
    return len(times) != 1 or _is_recent(era) is ("new" in times)


def _is_recent(era: str) -> bool:
    return _first_year(era) >= _RECENT


def _first_year(era: str) -> int:
    return next((year for year in _DECADES if decade(year) == era), 0)


def decade(year: int) -> str:
    """The year's decade as it is spoken: "the 90s", "the 2010s"."""
    first = year // 10 * 10
    return f"the {first % 100}s" if 1930 <= first <= 1990 else f"the {first}s"


def kinds(category: str, item: str, items: str) -> tuple[str, str]:
    """What items of a category are called, one and many: ("comedy", "comedies")."""
    alone = phrases().alone.get(category)
    if alone is not None:
        return alone.one, alone.many
    return f"{category} {item}", f"{category} {items}"


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def letters(text: str) -> str:
    """The folded words of a text with single spaces, letters and digits alone."""
    return " ".join("".join(s if s.isalnum() else " " for s in fold(text)).split())
