"""Entity linking: where a text names something that is known.

What is compared are words, so a name is never found inside a word ("Eve" in "never"), and case,
accents, apostrophes and the punctuation between words do not matter. The longest name wins.
`recjury.knowledge.casing` decides when a title that is an ordinary word is meant as a title.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recjury.knowledge.casing import Casing, is_ordinary, is_pronoun
from recjury.knowledge.names import Word, split_year, words

YEAR_TOLERANCE = 1

_NOBODY = ""

_YEAR_BEHIND = re.compile(r"\s*\(\s*(\d{4})\s*\)")
_SENTENCE_END = re.compile(r"[.!?;\n](?:\s|$)|\n")


class Mention(NamedTuple):
    """A name in a text: `text[start:end]` names the item or entity `id`."""

    start: int
    end: int
    text: str
    id: str


class Name(NamedTuple):
    """A name to be found. `weight` breaks ties between equal spellings (the higher wins).

    `year` is known of items even where the name does not have it. `cautious` names are
    subject to the rule for ordinary words; others (genres) are found wherever they stand.
    """

    id: str
    name: str
    year: int | None = None
    weight: float = 0.0
    cautious: bool = True


class _Entry(NamedTuple):
    name: Name
    spelling: str
    ordinary: bool
    breaks: bool


class _Match(NamedTuple):
    first: int
    length: int
    mention: Mention


class NameIndex:
    """Finds names in texts; building takes about 8 µs a name, a search about 0.1 ms."""

    def __init__(self, names: Iterable[Name], *, others: Iterable[str] = ()):
        """Index each name as it is, and without the year at its end.

        `others` are names that are no entries but must not be taken for one in part: with
        "Stephen King" among them, "King" is not found there.
        """
        self._entries: dict[str, list[_Entry]] = {}
        self._longest: dict[str, int] = {}
        for name in names:
            title, year = split_year(name.name)
            if year is not None:
                self._add(name, name.name, cautious=False)
            self._add(name, title, cautious=name.cautious)
        for other in others:
            key = " ".join(word.key for word in words(other))
            if " " in key and key not in self._entries:
                self._add(Name(_NOBODY, other), other, cautious=False)

    def _add(self, name: Name, spelling: str, *, cautious: bool) -> None:
        keys = [word.key for word in words(spelling)]
        if not keys:
            return
        ordinary = cautious and is_ordinary(keys)
        breaks = _SENTENCE_END.search(spelling.rstrip(".!?; ")) is not None
        entry = _Entry(name, spelling, ordinary, breaks)
        self._entries.setdefault(" ".join(keys), []).append(entry)
        self._longest[keys[0]] = max(len(keys), self._longest.get(keys[0], 0))

    def link(self, text: str) -> tuple[Mention, ...]:
        """All mentions in text order; where names overlap, the longest wins, then the first."""
        found = words(text)
        casing = Casing(text, found)
        matches = sorted(self._matches(text, found, casing), key=lambda m: (-m.length, m.first))
        taken = bytearray(len(found))
        chosen: list[Mention] = []
        for first, length, mention in matches:
            if not any(taken[first : first + length]):
                taken[first : first + length] = b"\1" * length
                chosen.append(mention)
        return tuple(sorted(mention for mention in chosen if mention.id != _NOBODY))

    def _matches(self, text: str, found: list[Word], casing: Casing) -> Iterator[_Match]:
        for first, word in enumerate(found):
            longest = self._longest.get(word.key, 0)
            possessive = 0 if longest else self._longest.get(_without_s(word), 0)
            for last in range(first, min(first + max(longest, possessive), len(found))):
                mention = self._at(text, found[first : last + 1], casing, first)
                if mention:
                    yield _Match(first, last + 1 - first, mention)

    def _at(self, text: str, span: list[Word], casing: Casing, first: int) -> Mention | None:
        stem = " ".join(word.key for word in span[:-1])
        lead = f"{stem} " if stem else ""
        entries, end = self._entries.get(lead + span[-1].key), span[-1].end
        if entries is None:
            # "Heat's ending" names Heat, but "It's" names nothing.
            owner = lead + _without_s(span[-1])
            entries = [] if is_pronoun(owner) else self._entries.get(owner, [])
            end = span[-1].end - 2
        start = span[0].start
        behind = _YEAR_BEHIND.match(text, end)
        year = int(behind[1]) if behind else None
        broken = _SENTENCE_END.search(text, start, end) is not None
        fitting = [
            entry
            for entry in entries
            if _year_fits(entry, year)
            and (entry.breaks or not broken)
            and (
                not entry.ordinary
                or year is not None
                or casing.is_title(first, len(span), entry.spelling)
            )
        ]
        if not fitting:
            return None
        best = max(fitting, key=lambda entry: _preference(entry, text, start, year))
        if behind and best.name.year is not None:
            end = behind.end()
        elif text.startswith(best.spelling, start):
            end = max(end, start + len(best.spelling))
        elif text.startswith(")", end) and "(" in text[start:end]:
            end += 1
        return Mention(start, end, text[start:end], best.name.id)


def _without_s(word: Word) -> str:
    """The key of "Heat" for "Heat's"; an empty one where there is no such ending."""
    return word.key[:-1] if word.text[-2:] in ("'s", "’s") else ""


def _year_fits(entry: _Entry, year: int | None) -> bool:
    known = entry.name.year
    return year is None or known is None or abs(known - year) <= YEAR_TOLERANCE


def _preference(
    entry: _Entry, text: str, start: int, year: int | None
) -> tuple[bool, int, float, bool]:
    """The stated year, then the same writing, then the better known, then the full name."""
    return (
        year is not None and entry.name.year == year,
        len(entry.spelling) if text.startswith(entry.spelling, start) else 0,
        entry.name.weight,
        entry.spelling == entry.name.name,
    )
