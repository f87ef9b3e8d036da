"""Claims that the catalogue can check: makers and cast, the year and the genre of an item.

A claim stands in a sentence that names one item, or none: then it is about the item before. Its
value is a name of the catalogue, a year or a genre; the words that relate them are those of the
domain (`DomainAttribute`).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from recjury.judges.measured.annotated_log import SystemTurn
from recjury.judges.measured.said import TITLE, Sentence, words_of
from recjury.knowledge import Catalogue, TitleMention, split_year
from recjury.language.genres import NEIGHBOURS, excluded, genres_in, genres_of
from recjury.records import Domain, DomainAttribute, Item

# Catalogues often name at most three makers of an item. Therefore a list of three names, and a
# cast of fewer than four, may be incomplete.
_MAY_GO_ON = 3
_FULL_CAST = 4
_YEARS_APART = 1
_LONGEST_NAME = 4
_BESIDE = 4
_RELEASED = ("released in", "came out in", "from")
_PRONOUNS = frozenset({"it", "this", "that"})
_IS = frozenset({"is", "was"})
_ENDS_A_KIND = frozenset(
    {"about", "and", "as", "but", "for", "from", "in", "like", "not", "of", "or", "that", "with"}
)
# Words that also describe the topic of an item, not only its genre.
_LOOSE = frozenset({"family", "war", "action", "adventure", "fantasy", "crime", "mystery"})
_CLAIMED = frozenset(NEIGHBOURS) - _LOOSE


class Claim(NamedTuple):
    """`item` is an id, `what` the attribute in the domain's words, `value` what is said of it."""

    item: str
    what: str
    value: str


class Checked(NamedTuple):
    """A claim, whether the catalogue confirms it, and the words that make it."""

    claim: Claim
    holds: bool
    quote: str


class Claims:
    """Finds claims with the names of a catalogue, and compares them with its items."""

    def __init__(self, catalogue: Catalogue):
        self._catalogue = catalogue

    def checked(self, turn: SystemTurn) -> Iterator[Checked]:
        """The claims of a turn that the catalogue confirms or contradicts, in order."""
        for mention in turn.said.named:
            wrong = self._wrong_year(mention)
            if wrong is not None:
                yield wrong
        about = turn.last_item
        for part in turn.said.sentences:
            keys = list(dict.fromkeys(mention.key for mention in part.named))
            if len(keys) > 1:
                about = None
                continue
            about = keys[0] if keys else about
            if about is not None and about in self._catalogue:
                quote = turn.said.text[part.start : part.end].strip()
                item = self._catalogue.item(about)
                for what, value, holds in self._said_of(item, part):
                    if holds is not None:
                        yield Checked(Claim(item.id, what, value), holds, quote)

    def _said_of(self, item: Item, part: Sentence) -> Iterator[tuple[str, str, bool | None]]:
        domain = self._catalogue.domain_of(item)
        words = part.masked
        yield from self._names(item, domain, words)
        for at, word in enumerate(words):
            if _is_year(word) and _ends_with(words[:at], _RELEASED):
                apart = None if item.year is None else abs(int(word) - item.year)
                yield "year", word, None if apart is None else apart <= _YEARS_APART
        genres = sorted(_called(words))
        if genres and item.genres:
            right = any(genre in genres_of(item) or not excluded(genre, item) for genre in genres)
            yield "genre", " ".join(genres), right and all(not excluded(g, item) for g in genres)

    def _names(
        self, item: Item, domain: Domain, words: Sequence[str]
    ) -> Iterator[tuple[str, str, bool | None]]:
        """The names of the catalogue in a sentence; those in a row have one relation."""
        relation: DomainAttribute | None = None
        end = -_BESIDE
        for start, name in self._named(words):
            if start - end > 1:
                relation = _relation(words, start, start + len(name.split()), domain)
            end = start + len(name.split())
            if relation is not None:
                yield relation.word, name, _has(item, domain, relation, name)
            elif any(name in _folded(each, item) for each in domain.of_kind("maker", "cast")):
                yield "name", name, True

    def _named(self, words: Sequence[str]) -> Iterator[tuple[int, str]]:
        at = 0
        while at < len(words):
            for length in range(min(_LONGEST_NAME, len(words) - at), 1, -1):
                name = " ".join(words[at : at + length])
                if name in self._all_names:
                    yield at, name
                    at += length - 1
                    break
            at += 1

    @cached_property
    def _all_names(self) -> frozenset[str]:
        """The names of makers and cast of two words or more, in the form that texts are compared
        in."""
        values = {
            value
            for item in self._catalogue
            for each in self._catalogue.domain_of(item).of_kind("maker", "cast")
            for value in each.of(item)
        }
        return frozenset(words_of(value) for value in values)

    def _wrong_year(self, mention: TitleMention) -> Checked | None:
        """The error if the year in a title is not the item's; None without an error.

        A title with another year than the item's is not linked, so its item is found by title.
        """
        title, year = split_year(mention.text)
        if year is None:
            return None
        known = mention.id is not None and mention.id in self._catalogue
        item = self._catalogue.item(mention.id or "") if known else self._catalogue.named(title)
        if item is None or item.year is None or abs(item.year - year) <= _YEARS_APART:
            return None
        return Checked(Claim(item.id, "year", str(year)), False, mention.text)


def _has(item: Item, domain: Domain, relation: DomainAttribute, name: str) -> bool | None:
    """Whether a name stands in a relation to an item; None if the catalogue cannot decide.

    Surnames are compared: spellings of first names vary. Somebody who takes part in an item in
    another role may have this one, too.
    """
    known = _folded(relation, item)
    surnames = {each.split()[-1] for each in known}
    if name in known or name.split()[-1] in surnames:
        return True
    if relation.kind == "cast":
        return False if len(known) >= _FULL_CAST else None
    others = {each for other in domain.of_kind("maker", "cast") for each in _folded(other, item)}
    if not known or len(known) >= _MAY_GO_ON or (relation.name != "director" and name in others):
        return None
    return False


def _folded(attribute: DomainAttribute, item: Item) -> frozenset[str]:
    return frozenset(filter(None, (words_of(value) for value in attribute.of(item))))


def _relation(words: Sequence[str], start: int, end: int, domain: Domain) -> DomainAttribute | None:
    """The attribute whose words stand directly before or behind the names at `start`."""
    before = f" {' '.join(words[max(0, start - _BESIDE) : start])}"
    behind = f"{' '.join(words[end : end + _BESIDE])} "
    for phrase, attribute in _phrases(domain)["before"].items():
        if before.endswith(f" {phrase}"):
            return attribute
    for phrase, attribute in _phrases(domain)["behind"].items():
        if behind.startswith(f"{phrase} "):
            return attribute
    return None


@lru_cache(64)
def _phrases(domain: Domain) -> Mapping[str, Mapping[str, DomainAttribute]]:
    """The words that relate an item and a name, those of more words first."""
    before: dict[str, DomainAttribute] = {}
    behind: dict[str, DomainAttribute] = {}
    for each in domain.of_kind("maker", "cast"):
        for phrase in (each.by, each.word, each.words, *each.asked):
            before.setdefault(words_of(phrase), each)
        behind.setdefault(words_of(each.did), each)
    return {"before": _longest_first(before), "behind": _longest_first(behind)}


def _longest_first(phrases: Mapping[str, DomainAttribute]) -> Mapping[str, DomainAttribute]:
    ranked = sorted(filter(None, phrases), key=lambda phrase: -len(phrase))
    return {phrase: phrases[phrase] for phrase in ranked}


def _is_year(word: str) -> bool:
    return len(word) == len("1999") and word.isdigit() and word[:2] in ("18", "19", "20")


def _ends_with(words: Sequence[str], phrases: Sequence[str]) -> bool:
    end = f" {' '.join(words[-_BESIDE:])}"
    return any(end.endswith(f" {phrase}") for phrase in phrases)


def _called(words: Sequence[str]) -> frozenset[str]:
    """The genres of "TITLE is a romantic comedy" and "it is a horror film"."""
    for at in range(1, len(words) - 2):
        subject = words[at - 1] == TITLE or (at == 1 and words[0] in _PRONOUNS)
        if subject and words[at] in _IS and words[at + 1] in ("a", "an"):
            kind: list[str] = []
            for word in words[at + 2 : at + 2 + _BESIDE]:
                if word in _ENDS_A_KIND or word == TITLE:
                    break
                kind.append(word)
            return genres_in(" ".join(kind)) & _CLAIMED
    return frozenset()
