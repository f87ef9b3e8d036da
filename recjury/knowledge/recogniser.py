"""The title recogniser: finds known names in a text, and spans that look like a title.

It compares whole words, so a name is never found inside a word ("Eve" in "never"). Case, accents,
apostrophes and the punctuation between words are ignored. The longest name wins. An unknown word
may be a misspelt word of a name (`recjury.knowledge.near_names`). `recjury.knowledge.title_marks`
decides when a title made of ordinary words is meant as a title. `recjury.knowledge.unlisted` finds
spans that look like a title and are not known names.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

from recjury.knowledge.near_names import MIN_LETTERS, NearNames
from recjury.knowledge.ordinary_words import is_ordinary_title, is_phrase
from recjury.knowledge.text_cache import cached_by_text
from recjury.knowledge.title_marks import TitleMarks, is_pronoun
from recjury.knowledge.tokenizer import Token, split_year, tokenize
from recjury.knowledge.unlisted import unlisted_titles

YEAR_TOLERANCE = 1

_NOBODY = ""
_ARTICLES = frozenset({"the", "a", "an"})
_NEAR_REACH = 6
_COMMON_TEXTS = 2
_TEXTS_KEPT = 8192  # the turns of several hundred conversations at once

_YEAR_BEHIND = re.compile(r"\s*\(\s*(\d{4})\s*\)")
_SENTENCE_END = re.compile(r"[.!?;\n](?:\s|$)|\n")


class MatchKind(StrEnum):
    """How a name was found, from the most to the least certain way."""

    WITH_YEAR = "with its year"
    TITLE = "as written"
    NEAR = "misspelt"
    UNLISTED = "by its looks"


# The shares of correct links among 5,946, 12,101 and 45 links; see docs/data.md.
_CONFIDENCE: dict[MatchKind, float | None] = {
    MatchKind.WITH_YEAR: 1.0,
    MatchKind.TITLE: 0.93,
    MatchKind.NEAR: 0.73,
    MatchKind.UNLISTED: None,
}


class Mention(NamedTuple):
    """A known name in a text: `text[start:end]` names the item or entity `id`."""

    start: int
    end: int
    text: str
    id: str


class TitleMention(NamedTuple):
    """A name in a text, with how it was found; `id` is None for an unlisted title."""

    start: int
    end: int
    text: str
    id: str | None
    kind: MatchKind

    @property
    def key(self) -> str:
        """The identity of the film: its id, or "?" and the case-folded name."""
        return self.id if self.id is not None else "?" + self.text.casefold()

    @property
    def confidence(self) -> float | None:
        """The share of links of this kind that name the right item in ReDial's validation messages.

        From 0 to 1, rounded; None for an unlisted title, for which it was not measured.
        """
        return _CONFIDENCE[self.kind]


class Name(NamedTuple):
    """A name to find. `weight` breaks ties between equal spellings (the higher wins).

    `year` may be known even if the name does not include it. `cautious` names are subject to the
    rules for ordinary words; others (genres) are found everywhere. `known` tells that people talk
    about the item. Only a known item can be meant, without a mark, by two or three ordinary words
    in lower case or by a single word that has other uses.
    """

    id: str
    name: str
    year: int | None = None
    weight: float = 0.0
    cautious: bool = True
    known: bool = True


class _Entry(NamedTuple):
    """One spelling of a name.

    A `doubtful` spelling must be marked as a title (`TitleMarks.is_title`); for a `plain` one, a
    capital is not a sufficient mark. A `phrase` has two or three words, all ordinary. `breaks`
    tells that the spelling itself contains the end of a sentence, `dated` that it ends with a year.
    """

    name: Name
    spelling: str
    doubtful: bool
    plain: bool
    phrase: bool
    breaks: bool
    dated: bool


class _Match(NamedTuple):
    """A mention and the words it covers. `needs` are words that must belong to other names."""

    first: int
    length: int
    rank: tuple[int, int, int, int]
    mention: TitleMention
    needs: tuple[int, ...]

    @property
    def end(self) -> int:
        """The index of the word after the match."""
        return self.first + self.length


class TitleRecogniser:
    """Finds names in texts. Building takes about 10 µs per name, a search about 0.2 ms.

    `link` returns the known names (entity linking). `mentions` also tells how each was found, and
    returns unlisted titles: spans that look like a title but are not known names.
    """

    def __init__(
        self,
        names: Iterable[Name],
        *,
        others: Iterable[str] = (),
        plain: Iterable[str] = (),
        texts: Iterable[str] = (),
    ):
        """Index each name as it is, and without the year at its end.

        `others` are names that are not returned, and block matches inside them: with
        "Stephen King" among them, "King" is not found there. `plain` are words that mean
        themselves (genres): a title with that spelling is accepted only with its year, in
        quotation marks, or alone in a list entry. `texts` show which words are in use:
        words in use are not treated as misspellings, and words in several texts are not taken as
        titles of unknown films unless they are marked.
        """
        # The last texts are kept: several parts of the house read a turn.
        self._known = cached_by_text(_TEXTS_KEPT)(self._find)
        self._entries: dict[str, list[_Entry]] = {}
        self._longest: dict[str, int] = {}
        self._beginnings: set[str] = set()
        people = {_name_key(other): other for other in others}
        self._plain = frozenset(_name_key(word) for word in plain) | {k for k in people if " " in k}
        counts = Counter(key for text in texts for key in {word.key for word in tokenize(text)})
        self._common = {key for key, count in counts.items() if count >= _COMMON_TEXTS}
        self._common.update(word for key in people for word in key.split())
        for name in names:
            title, year = split_year(name.name)
            if year is not None and tokenize(title):  # "$ (1971)" would be reduced to its year
                self._add(name, name.name, cautious=False)
            self._add(name, title, cautious=name.cautious)
        own = tuple(key for key, entries in self._entries.items() if entries[0].name.cautious)
        self._near = NearNames(own, self._common | counts.keys())
        for key, other in people.items():
            if " " in key:
                self._add(Name(_NOBODY, other, weight=-1.0), other, cautious=False)

    def _add(self, name: Name, spelling: str, *, cautious: bool) -> None:
        keys = [word.key for word in tokenize(spelling)]
        if not keys:
            return
        key = " ".join(keys)
        phrase = cautious and is_phrase(keys)
        common = phrase or (len(keys) == 1 and key in self._common)
        entry = _Entry(
            name,
            spelling,
            cautious and (is_ordinary_title(keys) or (common and not name.known)),
            cautious and key in self._plain,
            phrase,
            _SENTENCE_END.search(spelling.rstrip(".!?; ")) is not None,
            split_year(spelling).year is not None,
        )
        self._entries.setdefault(key, []).append(entry)
        self._longest[keys[0]] = max(len(keys), self._longest.get(keys[0], 0))
        self._beginnings.update(accumulate(f"{each} " for each in keys[:-1]))

    def link(self, text: str) -> tuple[Mention, ...]:
        """The known names in `text`, in text order."""
        return tuple(Mention(*found[:3], found.id or "") for found in self._known(text))

    def mentions(
        self, text: str, *, keep: Callable[[TitleMention], bool] | None = None
    ) -> tuple[TitleMention, ...]:
        """The known names in `text` that `keep` accepts, and the unlisted titles, in text order.

        A span that `keep` rejects can still be an unlisted title.
        """
        known = [found for found in self._known(text) if keep is None or keep(found)]
        unlisted = unlisted_titles(text, [(found.start, found.end) for found in known])
        known += [TitleMention(*span, None, MatchKind.UNLISTED) for span in unlisted]
        return tuple(sorted(known, key=lambda found: (found.start, found.end)))

    def _find(self, text: str) -> Sequence[TitleMention]:
        """The known names. On overlap: the longest, then a correctly spelt one, then the first."""
        found = tokenize(text)
        marks = TitleMarks(text, found)
        matches = [*self._matches(text, found, marks), *self._misspelt(text, found, marks)]
        matches.sort(key=lambda match: match.rank)
        covered = {place for match in matches for place in range(match.first, match.end)}
        taken = bytearray(len(found))
        chosen: list[TitleMention] = []
        for match in matches:
            free = not any(taken[match.first : match.end])
            if free and all(place in covered for place in match.needs):
                taken[match.first : match.end] = b"\1" * match.length
                chosen.append(match.mention)
        return sorted(mention for mention in chosen if mention.id != _NOBODY)

    def _matches(self, text: str, found: list[Token], marks: TitleMarks) -> Iterator[_Match]:
        for first, word in enumerate(found):
            longest = self._longest.get(word.key) or self._longest.get(_without_s(word), 0)
            beginning = ""
            for last in range(first, min(first + longest, len(found))):
                match = self._at(text, found[first : last + 1], beginning, marks, first)
                if match:
                    yield match
                beginning += f"{found[last].key} "
                if beginning not in self._beginnings:
                    break

    def _misspelt(self, text: str, found: list[Token], marks: TitleMarks) -> Iterator[_Match]:
        """Matches in which one word is a misspelt word of the name."""
        for place, word in enumerate(found):
            for meant in self._near.of(word.key):
                changed = [*found[:place], word._replace(key=meant), *found[place + 1 :]]
                for first in range(max(0, place - _NEAR_REACH), place + 1):
                    longest = self._longest.get(changed[first].key.partition(" ")[0], 0)
                    for last in range(place, min(first + longest, len(found))):
                        span = changed[first : last + 1]
                        if sum(len(each.key) for each in span) >= MIN_LETTERS:
                            beginning = "".join(f"{each.key} " for each in span[:-1])
                            match = self._at(text, span, beginning, marks, first)
                            if match:
                                length, chars, _, start = match.rank
                                near = match.mention._replace(kind=MatchKind.NEAR)
                                yield match._replace(rank=(length, chars, 1, start), mention=near)

    def _at(
        self, text: str, span: list[Token], beginning: str, marks: TitleMarks, first: int
    ) -> _Match | None:
        """The match of a span; `beginning` has the keys of all its words but the last."""
        entries, end = self._spelt(beginning, span[-1])
        if not entries:
            return None
        start = span[0].start
        behind = _YEAR_BEHIND.match(text, end)
        year = int(behind[1]) if behind else None
        broken = _SENTENCE_END.search(text, start, end) is not None
        fitting = [
            entry
            for entry in entries
            if _year_fits(entry, year)
            and (entry.breaks or not broken)
            and (year is not None or self._is_meant(entry, marks, first, len(span)))
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
        content = span[1:] if len(span) > 1 and span[0].key in _ARTICLES else span
        rank = (-len(content), -sum(len(word.key) for word in content), 0, first)
        dated = best.dated or (behind is not None and best.name.year is not None)
        kind = MatchKind.WITH_YEAR if dated else MatchKind.TITLE
        mention = TitleMention(start, end, text[start:end], best.name.id, kind)
        alone = len(span) == 1 and year is None and best.name.cautious
        needs = () if not alone or marks.is_marked(first, 1) else marks.neighbours(first)
        return _Match(first, len(span), rank, mention, needs)

    def _spelt(self, beginning: str, last: Token) -> tuple[list[_Entry], int]:
        """The entries with the spelling of the span, and the end of the span."""
        entries = self._entries.get(beginning + last.key)
        if entries is None:
            # "Heat's ending" names Heat, but "It's" names nothing.
            owner = _without_s(last)
            known = owner and not is_pronoun(beginning + owner)
            return self._entries.get(beginning + owner, []) if known else [], last.end - 2
        return entries, last.end

    def _is_meant(self, entry: _Entry, marks: TitleMarks, first: int, length: int) -> bool:
        """Whether words without a year are meant as a name here."""
        if entry.plain:
            return marks.is_marked(first, length)
        if entry.doubtful:
            return marks.is_title(first, length, entry.spelling)
        if not entry.name.cautious:
            return True
        return not (entry.phrase and marks.is_thing(first, length))


def _name_key(name: str) -> str:
    return " ".join(word.key for word in tokenize(name))


def _without_s(word: Token) -> str:
    """The key of "Heat" for "Heat's"; empty if the word has no such ending."""
    return word.key[:-1] if word.text[-2:] in ("'s", "’s") else ""


def _year_fits(entry: _Entry, year: int | None) -> bool:
    known = entry.name.year
    return year is None or known is None or abs(known - year) <= YEAR_TOLERANCE


def _preference(
    entry: _Entry, text: str, start: int, year: int | None
) -> tuple[bool, int, float, bool]:
    """Sort key: the stated year, the exact spelling, the higher weight, the full name."""
    return (
        year is not None and entry.name.year == year,
        len(entry.spelling) if text.startswith(entry.spelling, start) else 0,
        entry.name.weight,
        entry.spelling == entry.name.name,
    )
