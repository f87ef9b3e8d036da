"""Groundness: claims about items that contradict the catalogue, counted.

Claims are about makers and cast, the year and the genre of an item. A claim stands in a sentence
that names one item, or none: then it is about the item before. Its value is a name of the
catalogue, a year or a genre; the words that relate a name to an item are those of the domain
(`DomainAttribute`).
"""

from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedLog, SystemTurn
from recjury.judges.measured.linked_text import TITLE, words_of
from recjury.judges.measured.outcome import (
    Finding,
    Outcome,
    counted,
    from_errors,
    not_applicable,
    scored,
)
from recjury.judges.measured.wishes import has, names_of
from recjury.knowledge import Catalogue, TitleMention, split_year
from recjury.language.genres import NEIGHBOURS, excluded, genres_in, genres_of, unlike
from recjury.language.wishes import clauses_of, spoken_in
from recjury.records import Domain, DomainAttribute, Item

# Catalogues often name at most three makers of an item. Therefore a list of three names, and a
# cast of fewer than four, may be incomplete.
_MAY_GO_ON = 3
_FULL_CAST = 4
_YEARS_APART = 1
_LONGEST_NAME = 4
_BESIDE = 4
_RELEASED = (" released in", " came out in", " from")
_PRONOUNS = frozenset({"it", "its", "this", "that", "he", "she", "they"})
_ENDS_A_KIND = frozenset({"about", "and", "but", "for", "from", "in", "like", "of", "or", "with"})
# The others also describe the topic of an item, not only its genre.
_CLAIMED = frozenset(NEIGHBOURS) - {
    "family", "war", "action", "adventure", "fantasy", "crime", "mystery",
}  # fmt: skip


class Claim(NamedTuple):
    """`name` is an item's, `what` the attribute in the domain's words, `value` what is said."""

    name: str
    what: str
    value: str


def groundness(log: AnnotatedLog) -> Outcome:
    """0 errors score 4, 1 to 3 score 3 to 1, more score 0.

    An error that is repeated counts once. Most claims cannot be checked, so there are at least as
    many errors as if each turn with an item made one claim, wrong as often as those that can be.
    Without an error there is no score if the checked claims are fewer than half of these turns:
    a system that says nothing would get the rubric's 4. A right year after a title is no claim.
    """
    errors: dict[Claim, Finding] = {}
    right: set[Claim] = set()
    for turn in log.spoken:
        for claim, holds, quote in _checked_claims(turn, log.catalogue):
            if holds:
                right.add(claim)
            else:
                note = f"says {claim.value!r} as {claim.what} of {claim.name!r}"
                errors.setdefault(claim, Finding(turn.place, "wrong claim", note, quote))
    checked = len(errors) + len(right)
    turns = sum(bool(turn.said.named) for turn in log.spoken)
    if not checked or (not errors and 2 * checked < turns):
        return not_applicable("too few claims about items that the catalogue can check")
    count = max(len(errors), len(errors) * turns // checked)
    summary = f"{counted(len(errors), 'error')} in {counted(checked, 'checked claim')}"
    summary += f", so about {count} in all claims" if count > len(errors) else ""
    return scored(from_errors(count), summary, tuple(errors.values()))


def _checked_claims(turn: SystemTurn, catalogue: Catalogue) -> Iterator[tuple[Claim, bool, str]]:
    """The claims of a turn that the catalogue confirms or contradicts: whether they hold, and the
    words that make them."""
    for mention in turn.said.named:
        yield from _wrong_year(mention, catalogue)
    about = turn.last_item
    for part in turn.said.sentences:
        keys = {mention.key for mention in part.named}
        if keys:
            about = keys.pop() if len(keys) == 1 else None
        elif _PRONOUNS.isdisjoint(part.words):  # maybe about something not in the catalogue
            about = None
        # "It is not by Steven Spielberg" claims nothing that an item could have.
        denies = any(clause.refuses for clause in clauses_of(part.text))
        if about is not None and about in catalogue and not denies:
            item = catalogue.item(about)
            for what, value, holds in _said_of(item, part.words, turn.last_item, catalogue):
                if holds is not None:
                    yield Claim(item.name, what, value), holds, part.text


def _said_of(
    item: Item, words: Sequence[str], last: str | None, catalogue: Catalogue
) -> Iterator[tuple[str, str, bool | None]]:
    domain = catalogue.domain_of(item)
    yield from _said_of_people(item, words, catalogue)
    if last is not None and last != item.id and last in catalogue:
        other = catalogue.item(last)
        for each in domain.of_kind("maker"):
            if ("same", each.word) in pairwise(words):
                shared = names_of(item, each) & names_of(other, each)
                yield f"same {each.word}", other.name, bool(shared)
    for at, word in enumerate(words):
        before = f" {' '.join(words[max(0, at - _BESIDE) : at])}"
        if len(word) == len("1999") and word.isdigit() and before.endswith(_RELEASED):
            apart = None if item.year is None else abs(int(word) - item.year)
            yield "year", word, None if apart is None else apart <= _YEARS_APART
        elif before.endswith(" from the"):
            decades = [each.attribute for each in spoken_in(word)]
            yield from (("year", word, has(item, each, domain)) for each in decades)
    genres = sorted(_called(words, domain))
    if genres and item.genres:
        yield "genre", " ".join(genres), _is_of(item, genres)


def _said_of_people(
    item: Item, words: Sequence[str], catalogue: Catalogue
) -> Iterator[tuple[str, str, bool | None]]:
    """What is said by the names of the catalogue; those in a row have one relation."""
    domain = catalogue.domain_of(item)
    relation: DomainAttribute | None = None
    end = -_BESIDE
    for start, length in _places(words, _all_names(catalogue)):
        name = " ".join(words[start : start + length])
        if start - end > 1:
            relation = _relation(words, start, start + length, domain)
        end = start + length
        if relation is not None:
            yield relation.word, name, _has(item, domain, relation, name)
        elif name in names_of(item, *domain.of_kind("maker", "cast")):
            yield "name", name, True


def _places(words: Sequence[str], names: Container[str]) -> Iterator[tuple[int, int]]:
    """Where names stand, and how many words each has: the longest, at least two."""
    end = 0
    for at in range(len(words)):
        for length in range(_LONGEST_NAME if at >= end else 0, 1, -1):
            if " ".join(words[at : at + length]) in names:
                yield at, length
                end = at + length
                break


@lru_cache(4)
def _all_names(catalogue: Catalogue) -> frozenset[str]:
    items = ((item, catalogue.domain_of(item)) for item in catalogue)
    names = (names_of(item, *domain.of_kind("maker", "cast")) for item, domain in items)
    return frozenset().union(*names)


def _wrong_year(mention: TitleMention, catalogue: Catalogue) -> Iterator[tuple[Claim, bool, str]]:
    """The error if the year in a title is not the item's.

    A title with another year than the item's is not linked, so its item is found by title.
    """
    title, year = split_year(mention.text)
    known = mention.id if mention.id in catalogue else None
    item = catalogue.named(title) if known is None else catalogue.item(known)
    if year and item and item.year and abs(item.year - year) > _YEARS_APART:
        yield Claim(item.name, "year", str(year)), False, mention.text


def _has(item: Item, domain: Domain, relation: DomainAttribute, name: str) -> bool | None:
    """Whether a name stands in a relation to an item; None if the catalogue cannot decide.

    Surnames are compared: spellings of first names vary. A writer may be one of the other makers
    or of the cast.
    """
    known = names_of(item, relation)
    if name.split()[-1] in {each.split()[-1] for each in known}:
        return True
    if relation.kind == "cast":
        return False if len(known) >= _FULL_CAST else None
    first, *_ = domain.of_kind("maker")
    others = names_of(item, *domain.of_kind("maker", "cast")) if relation != first else ()
    return None if not known or len(known) >= _MAY_GO_ON or name in others else False


def _relation(words: Sequence[str], start: int, end: int, domain: Domain) -> DomainAttribute | None:
    """The attribute whose words stand directly before or behind the names at `start`."""
    before = f" {' '.join(words[max(0, start - _BESIDE) : start])}"
    behind = f"{' '.join(words[end : end + _BESIDE])} "
    for phrase, leads, attribute in _relations(domain):
        if before.endswith(f" {phrase}") if leads else behind.startswith(f"{phrase} "):
            return attribute
    return None


@lru_cache(64)
def _relations(domain: Domain) -> Sequence[tuple[str, bool, DomainAttribute]]:
    """The words that relate an item and a name, whether they lead, and what they mean; the longest
    first."""
    found = [
        (words_of(phrase), phrase != each.did, each)
        for each in domain.of_kind("maker", "cast")
        for phrase in (each.by, each.did, each.word, each.words, *each.asked)
        if phrase
    ]
    return sorted(found, key=lambda relation: -len(relation[0]))


def _is_of(item: Item, genres: Sequence[str]) -> bool | None:
    """Whether an item is of all these genres; None if it is of one that is often confused."""
    if any(excluded(each, item) or unlike(each, item) for each in genres):
        return False
    return True if genres_of(item).issuperset(genres) else None


def _called(words: Sequence[str], domain: Domain) -> frozenset[str]:
    """The genres of "TITLE is a romantic comedy" and "it is also a horror film".

    A genre that may be a topic ("a family in a war") is claimed only by the last word of a kind.
    """
    for at in range(1, len(words) - 2):
        subject = words[at - 1] == TITLE or (at == 1 and words[0] in _PRONOUNS)
        if subject and words[at] in ("is", "was"):
            kind = list(words[at + 1 : at + 2 + _BESIDE])
            start = next((i for i, word in enumerate(kind[:2], 1) if word in ("a", "an")), None)
            end = next((i for i, word in enumerate(kind) if word in _ENDS_A_KIND), len(kind))
            named = [word for word in kind[start:end] if word not in domain.all_words]
            last = genres_in(named[-1]) if start and named else frozenset()
            return (genres_in(" ".join(named)) & _CLAIMED if start else frozenset()) | last
    return frozenset()
