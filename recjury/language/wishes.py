"""What an utterance wants and turns down, as attribute and value: look-ups and a few forms.

Values are the catalogue's, where one is given, and the words of `vocabulary.yaml`; moods are none.
A value is turned down if a word of refusing stands before it in the same clause.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from recjury.knowledge import Catalogue, plain_value
from recjury.knowledge.text_cache import cached_by_text
from recjury.language.tokens import shortened
from recjury.language.vocabulary import decades, phrases, spoken_values, words
from recjury.records import Attribute

_WORD = re.compile(r"[^\W_]+(?:[-'&.][^\W_]+)*")
_DECADE = re.compile(r"\b(?:(19|20)(\d)0'?s|'?([2-9]0)'?s)\b")
_YEAR = re.compile(r"\b(?:from|in|of|year|around) ((?:19|20)\d\d)\b|\(((?:19|20)\d\d)\)")
_LENGTH = re.compile(
    r"\b(?:under|below|less than|at most|no longer than|max|shorter than) "
    r"(\d{1,3}|an|one|two|three)(?: and a half)? ?(hours?|hrs?|h|minutes?|mins?|min)\b"
)
# A number before another noun is no price ("at most 3 movies", "up to 90 pages").
_PRICE = re.compile(
    r"\b(?:under|below|less than|at most|max|up to) (?:[$£€](\d{1,5})\b|(\d{1,5})(?= ?(?:[^\w ]|$|"
    r"(?:euros?|dollars?|pounds?|bucks|quid|eur|usd|gbp|and|or|but|with|if|please)\b)))"
)
# A comma ends a clause unless a list goes on behind it ("no politics, no war", "Jackie Chan, Jet").
_CLAUSE_END = re.compile(r"[.;!?\n:]|,(?= [a-z'-]+ [a-z0-9'-]+)(?! (?:or|and|no|not|nor)\b)| - ")
_NAME_WORDS = frozenset({"of", "the", "and", "de", "la", "van", "von", "del", "da", "in", "&"})
_LONGEST_PHRASE = 4
_NUMBERS = {"an": "1", "one": "1", "two": "2", "three": "3"}


class ValueMention(NamedTuple):
    """A value from `start` to `end` of a text, and whether it is refused."""

    start: int
    end: int
    attribute: Attribute
    refused: bool


class Clause(NamedTuple):
    """A part of a text in which a refusal reaches from its word to the end."""

    start: int
    end: int
    refused_from: int

    @property
    def refuses(self) -> bool:
        """Whether the clause has a word of refusing."""
        return self.refused_from < self.end


@cached_by_text(4096)
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text in lower case; without a refusal, `refused_from` is the end."""
    found: list[Clause] = []
    start = 0
    ends = [*(match.span() for match in _CLAUSE_END.finditer(text)), (len(text), len(text))]
    for end, following in ends:
        for turn in _turns(text[start:end]):
            found.append(_clause(text, start, start + turn))
            start += turn
        found.append(_clause(text, start, end))
        start = following
    return tuple(found)


def _turns(part: str) -> list[int]:
    """The lengths of the pieces before words that turn from a refusal to a wish."""
    refusals = [match.span() for match in _pattern("refusing").finditer(part)]
    at, lengths = 0, []
    for match in _pattern("turning").finditer(part):
        inside = any(start < match.start() < end for start, end in refusals)
        if match.start() > at and not inside:
            lengths.append(match.start() - at)
            at = match.start()
    return lengths


def _clause(text: str, start: int, end: int) -> Clause:
    harmless = [match.span() for match in _pattern("harmless").finditer(text, start, end)]
    for match in _pattern("refusing").finditer(text, start, end):
        if not any(a <= match.start() < b for a, b in harmless):
            return Clause(start, end, match.end())
    return Clause(start, end, end)


@lru_cache(8)
def _pattern(name: str) -> re.Pattern[str]:
    listed = "|".join(re.escape(phrase) for phrase in phrases(name))
    return re.compile(rf"(?<![\w'])(?:{listed})(?![\w'])")


def clauses_of(text: str) -> tuple[Clause, ...]:
    """The clauses of a text as it is written."""
    return clauses(shortened(text).lower())


def clause_at(text: str, position: int) -> Clause:
    """The clause that ends after this position of a text; without one, an empty one there."""
    after = (clause for clause in clauses_of(text) if position < clause.end)
    return next(after, Clause(position, position, position))


def is_refused(text: str, start: int) -> bool:
    """Whether the value at `start` of a text is refused by a word before it in its clause."""
    clause = clause_at(text, start)
    return clause.refused_from <= start < clause.end


def takes_back(text: str) -> bool:
    """Whether a clause ends in its refusal, which then is of what was said before ("it's not")."""
    lower = shortened(text).lower()
    return any(
        match.end() == each.end and lower[each.start : match.start()].strip()
        for each in clauses(lower)
        for match in _pattern("refusing").finditer(lower, each.start, each.end)
    )


def spoken_in(text: str, catalogue: Catalogue | None = None) -> list[ValueMention]:
    """The values that a text says, in its order."""
    read = shortened(text)
    lower = read.lower()
    taken: list[tuple[int, int]] = []
    found: list[ValueMention] = []
    sources = (_titles, _numbers, _looked_up, _names) if catalogue is None else (
        _titles, _numbers, _looked_up)  # fmt: skip
    for source in sources:
        for start, end, attribute in source(read, lower, catalogue):
            if not any(a < end and start < b for a, b in taken):
                taken.append((start, end))
                found.append(ValueMention(start, end, attribute, is_refused(read, start)))
    return sorted(set(found))


_Found = Iterator[tuple[int, int, Attribute]]


def _titles(text: str, lower: str, catalogue: Catalogue | None) -> _Found:
    """Items of the catalogue after words of likening; others keep their words from being values."""
    for mention in () if catalogue is None else catalogue.link(text):
        name = catalogue.item(mention.id).name if catalogue else mention.text
        before = lower[max(0, mention.start - 40) : mention.start]
        if _likens(before):
            yield mention.start, mention.end, Attribute("like", name)


def _likens(before: str) -> bool:
    clause = _CLAUSE_END.split(before)[-1]
    return _pattern("likening").search(clause) is not None


def _numbers(text: str, lower: str, catalogue: Catalogue | None) -> _Found:  # noqa: ARG001
    for match in _DECADE.finditer(lower):
        century, tens, short = match.groups()
        first = int(f"{century}{tens}0") if century else 1900 + int(short)
        yield *match.span(), Attribute("decade", f"{first}s")
    for match in _YEAR.finditer(lower):
        yield *match.span(), Attribute("year", match[1] or match[2])
    for match in _LENGTH.finditer(lower):
        number = _NUMBERS.get(match[1], match[1])
        unit = "minutes" if match[2].startswith("m") else "hours"
        yield *match.span(), Attribute("length", f"under {number} {unit}")
    for match in _PRICE.finditer(lower):
        yield *match.span(), Attribute("price", f"under {match[1] or match[2]}")
    for match in _WORD.finditer(lower):
        if match.group() in decades():
            yield *match.span(), Attribute("decade", f"{decades()[match.group()]}s")


def _looked_up(text: str, lower: str, catalogue: Catalogue | None) -> _Found:  # noqa: ARG001
    """The longest phrases that the catalogue or the vocabulary has."""
    places = [match.span() for match in _WORD.finditer(lower)]
    values = spoken_values() if catalogue is None else _values_of(catalogue)
    longest = _longest_from(catalogue)
    eats = not words("eating").isdisjoint(lower[a:b] for a, b in places)
    at = 0
    while at < len(places):
        start, end = places[at]
        most = min(longest.get(lower[start:end], 0), len(places) - at)
        for length in range(most, 0, -1):
            end = places[at + length - 1][1]
            meant = values.get(" ".join(lower[start:end].split()))
            if meant:
                yield start, end, _one_of(meant, eats)
                at += length
                break
        else:
            at += 1


def _one_of(meant: tuple[Attribute, ...], eats: bool) -> Attribute:
    """What a word with two meanings means: a cuisine where one speaks of eating."""
    cuisine = [each for each in meant if (each.kind == "cuisine") is eats]
    return (cuisine or list(meant))[0]


@lru_cache(8)
def _values_of(catalogue: Catalogue) -> Mapping[str, tuple[Attribute, ...]]:
    """The catalogue's values by how people say them, and the vocabulary's of its attributes."""
    attributes = {each.name for domain in catalogue.domains for each in domain.attributes}
    own: dict[str, list[Attribute]] = {}
    for item in catalogue:
        for attribute in catalogue.domain_of(item).attributes:
            if attribute.kind != "era":
                for value in attribute.of(item):
                    own.setdefault(plain_value(value), []).append(Attribute(attribute.name, value))
    known = {said: tuple(dict.fromkeys(values)) for said, values in own.items()}
    for said, meant in spoken_values().items():
        kept = tuple(each for each in meant if each.kind in attributes)
        if kept and said not in known:
            known[said] = tuple(known.get(plain_value(each.value), (each,))[0] for each in kept)
    return known


@lru_cache(8)
def _longest_from(catalogue: Catalogue | None) -> Mapping[str, int]:
    """How many words the longest value has that begins with a word, at most four."""
    found: dict[str, int] = {}
    for said in spoken_values() if catalogue is None else _values_of(catalogue):
        parts = _WORD.findall(said)
        for first in parts[:1]:
            found[first] = max(found.get(first, 0), min(len(parts), _LONGEST_PHRASE))
    return found


def _names(text: str, lower: str, catalogue: Catalogue | None) -> _Found:  # noqa: ARG001
    """Names by their capitals: titles after words of likening, persons after words of naming."""
    kind = ""
    last_end = -1
    for start, end in _capitalised(text):
        between = lower[last_end:start] if last_end >= 0 else ""
        if not (kind and re.fullmatch(r"(?:,| or| and|, or|, and|/| &)? ?", between)):
            before = _CLAUSE_END.split(lower[max(0, start - 30) : start])[-1]
            named = re.search(rf"{_pattern('naming').pattern}\s*$", before)
            kind = "like" if _likens(before) else "person" if named else ""
        last_end = end
        if kind:
            yield start, end, Attribute(kind, lower[start:end].removesuffix("'s"))


def _capitalised(text: str) -> Iterator[tuple[int, int]]:
    """Runs of capitalised words, small words between them included."""
    spans: list[tuple[int, int]] = []
    open_run = False
    for match in _WORD.finditer(text):
        word = match.group()
        capital = word[0].isupper() and word not in {"I", "I'm", "I'd", "I've", "I'll"}
        joined = open_run and text[spans[-1][1] : match.start()] == " "
        if capital and joined:
            spans[-1] = (spans[-1][0], match.end())
        elif capital:
            spans.append(match.span())
        elif (
            joined
            and word in _NAME_WORDS
            and text[match.end() : match.end() + 2].strip()[:1].isupper()
        ):
            spans[-1] = (spans[-1][0], match.end())
            continue
        open_run = capital
    yield from spans
