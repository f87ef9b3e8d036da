"""Whether items have what the user wishes for, as far as the catalogue knows."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from recjury.judges.measured.linked_text import words_of
from recjury.knowledge import Catalogue, plain_value
from recjury.language import Reading
from recjury.language.genres import canonical_genres, genres_of, unlike
from recjury.records import Act, Attribute, Domain, DomainAttribute, Item, Turn

_REQUESTS = frozenset({Act.WISH, Act.ASK, Act.REFUSE, Act.SEEN, Act.COMPLAIN})
_REJECTING = frozenset({Act.WISH, Act.REFUSE, Act.COMPLAIN})
_NO_WISHES = frozenset({Act.ASK, Act.SEEN, Act.ACCEPT, Act.THANK})
_LIMIT = "under "
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Wish(NamedTuple):
    """What the user wants of an item: one value of each kind, and none that is rejected."""

    wants: tuple[Attribute, ...] = ()
    rejects: tuple[Attribute, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is wanted or rejected."""
        return self != Wish()

    def after(self, turn: Turn, reading: Reading) -> "Wish":
        """The wish after a turn of the user.

        A new wish replaces the one before, also one for something like an item; what is rejected
        stays so until it is wanted. Values of turns that wish nothing ("Is it a comedy?") change
        nothing. The wish has lapsed when the user accepts something or says thanks, and asks for
        nothing.
        """
        maybe = Act.WISH not in reading.no and reading.yes.isdisjoint(_NO_WISHES)
        wanted = reading.wants if Act.WISH in reading.yes or maybe else ()
        rejected = () if reading.no >= _REJECTING else reading.rejects
        rejects = dict.fromkeys((*self.rejects, *rejected))
        left_out = tuple(each for each in rejects if each not in wanted)
        like = any(act.act is Act.WISH and act.item is not None for act in turn.acts)
        lapsed = reading.yes & {Act.ACCEPT, Act.THANK} and not reading.yes & _REQUESTS
        if wanted or like or lapsed:
            return Wish(wanted, left_out)
        return Wish(tuple(each for each in self.wants if each not in rejects), left_out)

    def __str__(self) -> str:
        """In words: "comedy, 1990s, no horror"."""
        rejected = (f"no {each.value}" for each in self.rejects)
        return ", ".join((*(each.value for each in self.wants), *rejected))


def names_of(item: Item, *attributes: DomainAttribute) -> frozenset[str]:
    """The values that an item has in these attributes, as texts are compared."""
    values = (words_of(value) for each in attributes for value in each.of(item))
    return frozenset(value for value in values if value)


def has(item: Item, attribute: Attribute, domain: Domain) -> bool | None:
    """Whether an item has a value; None if the catalogue does not know, or cannot tell it from a
    neighbouring genre."""
    kind, wanted = attribute
    if kind in ("decade", "year"):
        first = int(wanted[:4]) if wanted[:4].isdigit() else None
        if item.year is None or first is None:
            return None
        return first <= item.year <= (first + 9 if kind == "decade" else first)
    described = domain.attribute(kind)
    if described is None:
        return None
    if described.kind in ("maker", "cast"):  # in any role
        names = names_of(item, *domain.of_kind("maker", "cast"))
        return words_of(wanted) in names if names else None
    if described.field == "genres":
        genres = canonical_genres(wanted)
        return bool(genres & genres_of(item)) or (
            False if all(unlike(genre, item) for genre in genres) else None
        )
    values = {plain_value(value) for value in described.of(item)}
    numbers = [float(found[0]) for each in values if (found := _NUMBER.findall(each))]
    if wanted.startswith(_LIMIT) or len(numbers) == len(values):
        return _within(numbers, wanted)
    return plain_value(wanted) in values


def _within(numbers: Sequence[float], wanted: str) -> bool | None:
    """Whether one of an item's numbers is the one wanted, or in its limit ("under 300")."""
    limit = _NUMBER.findall(wanted)
    if not numbers or not limit:
        return None
    most = float(limit[0])
    return any(each <= most if wanted.startswith(_LIMIT) else each == most for each in numbers)


def fits(item: Item, wish: Wish, catalogue: Catalogue) -> bool | None:
    """Whether an item has what is wished for; None if the catalogue cannot tell.

    Of several wanted values of one kind, one is enough. An item that has a wanted and a rejected
    value of one kind ("a drama, no comedy") is neither.
    """
    domain = catalogue.domain_of(item)
    kinds = {
        each.kind: [has(item, w, domain) for w in wish.wants if w.kind == each.kind]
        for each in wish.wants
    }
    answers = [True in found or (None if None in found else False) for found in kinds.values()]
    rejected = [each.kind for each in wish.rejects if has(item, each, domain)]
    answers += [None if True in kinds.get(kind, ()) else False for kind in rejected]
    return False if False in answers else True if True in answers else None


def misfit(items: Sequence[Item], unknown: int, wish: Wish, catalogue: Catalogue) -> Item | None:
    """The first newly named item without what is wished for, if that is true of most of them.

    None if the first one or half of them have it, or if the catalogue knows too little: `unknown`
    counts the newly named items that it does not have.
    """
    answers = [fits(item, wish, catalogue) for item in items]
    good, bad = answers.count(True), answers.count(False)
    if bad <= answers.count(None) + unknown or bad <= good or answers[0] is True:
        return None
    return items[answers.index(False)]
