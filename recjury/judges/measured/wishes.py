"""Whether items have what the user wishes for, as far as the catalogue knows."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recjury.judges.measured.said import words_of
from recjury.judges.measured.similarity import Similarity, similarity, traits_of
from recjury.knowledge import Catalogue, plain_value
from recjury.language import Reading
from recjury.language.genres import canonical_genres, excluded, genres_of
from recjury.records import Act, Attribute, Domain, Item, Turn

_REQUESTS = frozenset({Act.WISH, Act.ASK, Act.REFUSE, Act.SEEN, Act.COMPLAIN})


class Wish(NamedTuple):
    """What the user wants of an item: one value of each kind, none that is rejected, and to be
    like one of the items `like`."""

    wants: tuple[Attribute, ...] = ()
    rejects: tuple[Attribute, ...] = ()
    like: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is wanted or rejected."""
        return bool(self.wants or self.rejects or self.like)

    def after(self, turn: Turn, reading: Reading) -> "Wish":
        """The wish after a turn of the user.

        A new wish replaces the one before; what is rejected stays so until it is wanted. The wish
        has lapsed when the user accepts something or says thanks, and asks for nothing.
        """
        like = tuple(act.item for act in turn.acts if act.act is Act.WISH and act.item is not None)
        rejects = tuple(
            dict.fromkeys(
                each for each in (*self.rejects, *reading.rejects) if each not in reading.wants
            )
        )
        if reading.wants or like:
            return Wish(reading.wants, rejects, like)
        pleased = reading.yes & {Act.ACCEPT, Act.THANK} and not reading.yes & _REQUESTS
        wants = () if pleased else tuple(each for each in self.wants if each not in rejects)
        return Wish(wants, rejects, () if pleased else self.like)

    def __str__(self) -> str:
        """In words: "comedy, 1990s, no horror"."""
        rejected = (f"no {each.value}" for each in self.rejects)
        return ", ".join((*(each.value for each in self.wants), *rejected))


def has(item: Item, attribute: Attribute, domain: Domain) -> bool | None:
    """Whether an item has a value; None if the catalogue does not know, or cannot tell it from a
    neighbouring genre."""
    wanted = attribute.value
    if attribute.kind in ("decade", "year"):
        return None if item.year is None else _era(wanted, item.year)
    described = domain.attribute(attribute.kind)
    if described is None:
        return None
    if described.kind in ("maker", "cast"):
        return _has_name(item, wanted, domain)
    values = described.of(item)
    if not values:
        return None
    if described.field == "genres":
        return _is_of(item, wanted)
    return plain_value(wanted) in {plain_value(value) for value in values}


def _era(wanted: str, year: int) -> bool | None:
    """Whether a year is the wanted one, or in the wanted decade ("1990s")."""
    first = wanted[:4]
    if not first.isdigit():
        return None
    return int(first) <= year <= int(first) + (9 if wanted.endswith("s") else 0)


def _has_name(item: Item, name: str, domain: Domain) -> bool | None:
    """Whether a name is among those of an item, in any role."""
    names = [value for each in domain.of_kind("maker", "cast") for value in each.of(item)]
    return words_of(name) in {words_of(value) for value in names} if names else None


def _is_of(item: Item, genre: str) -> bool | None:
    """Whether an item is of a genre; None for one that is often confused with its genres."""
    wanted = canonical_genres(genre)
    if wanted & genres_of(item):
        return True
    return False if all(excluded(each, item) for each in wanted) else None


def fits(item: Item, wish: Wish, catalogue: Catalogue) -> bool | None:
    """Whether an item has what is wished for; None if the catalogue cannot tell.

    Of several wanted values of one kind, one is enough. An item that has a wanted and a rejected
    value of one kind ("a drama, no comedy") is neither.
    """
    domain = catalogue.domain_of(item)
    answers = [
        _any(has(item, each, domain) for each in wish.wants if each.kind == kind)
        for kind in dict.fromkeys(each.kind for each in wish.wants)
    ]
    if wish.like:
        answers.append(_is_like(item, wish.like, catalogue))
    for rejected in wish.rejects:
        if has(item, rejected, domain):
            both = any(w.kind == rejected.kind and has(item, w, domain) for w in wish.wants)
            answers.append(None if both else False)
    if False in answers:
        return False
    return True if True in answers else None


def _any(answers: Iterable[bool | None]) -> bool | None:
    found = list(answers)
    if True in found:
        return True
    return None if None in found else False


def _is_like(item: Item, like: Sequence[str], catalogue: Catalogue) -> bool | None:
    domain = catalogue.domain_of(item)
    traits = traits_of(item, domain, None)
    others = [catalogue.item(id_) for id_ in like if id_ in catalogue]
    known = [traits_of(other, catalogue.domain_of(other), None) for other in others]
    if not any(traits) or not any(any(each) for each in known):
        return None
    return any(similarity(traits, each) is not Similarity.UNLIKE for each in known)


def misfit(items: Sequence[Item], unknown: int, wish: Wish, catalogue: Catalogue) -> Item | None:
    """The first newly named item without what is wished for, if that is true of most of them.

    None if the first one or half of them have it, or if the catalogue knows too little: `unknown`
    counts the newly named items that it does not have.
    """
    if not wish or not items:
        return None
    answers = [fits(item, wish, catalogue) for item in items]
    good, bad = answers.count(True), answers.count(False)
    if bad <= answers.count(None) + unknown or bad <= good or (good and answers[0] is True):
        return None
    return items[answers.index(False)]
