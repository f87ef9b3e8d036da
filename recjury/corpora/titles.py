"""`Title`: what names an item in a text. Lists and texts are matched by the same names."""

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from recjury.corpora.marks import Marks
from recjury.corpora.words import Word, fold, is_ordinary, plain, words

LINKING = 2
"""Another number if the same text names other items."""

_DATED = re.compile(r"(?P<name>.+?)\s*\((?P<year>(?:18|19|20)\d\d)\)\s*$", re.DOTALL)
_YEAR_BEHIND = re.compile(r",?\s*[(\[]?\s*((?:18|19|20)\d\d)\b")
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_ARTICLE_LAST = re.compile(r"^(?P<name>.+), (?P<article>the|a|an)$", re.IGNORECASE)
_SEQUEL = re.compile(r"\s+(?:\d|ii|iii|iv|v|vi)$", re.IGNORECASE)
_SUBTITLE = re.compile(r"\s*:\s+|\s+[-–—]\s+")
_LONG_SUBTITLE = 3  # words: so long, it is a name of its own


def name_and_year(name: str) -> tuple[str, int | None]:
    """A name, and the year in brackets at its end: "Heat (1995)" is "Heat", 1995."""
    dated = _DATED.match(name)
    return (dated["name"], int(dated["year"])) if dated else (name, None)


def without_names(text: str, names: Iterable[str], instead: str = " ") -> str:
    """The text with something else in place of names of items and their years, in any case."""
    spellings = sorted((Title(name).spelling for name in names), key=len, reverse=True)
    either = "|".join(map(re.escape, spellings))
    name = rf"(?<!\w)(?:{either})(?!\w)(?:\s*\(\d{{4}}\))?"
    return re.sub(name, instead, text, flags=re.IGNORECASE) if spellings else text


class Title:
    """The names of one item: with and without an article, its year apart."""

    def __init__(self, name: str):
        """`name` may end with a year in brackets."""
        bare, self.year = name_and_year(plain(name))
        self.spelling = _ARTICLE_LAST.sub(r"\g<article> \g<name>", bare)
        key = fold(self.spelling)
        self.aliases = frozenset({key, _ARTICLE.sub("", key)} - {""})

    @cached_property
    def short_names(self) -> tuple[str, ...]:
        """What people call it: without its article, its subtitle or number, or by its subtitle."""
        bare = _ARTICLE.sub("", self.spelling)
        head, *tail = _SUBTITLE.split(bare)
        parts = [_ARTICLE.sub("", part) for part in tail if len(part.split()) >= _LONG_SUBTITLE]
        return tuple(dict.fromkeys(filter(None, (bare, head, _SEQUEL.sub("", head), *parts))))

    def other_names(self, text: str) -> Iterator[str]:
        """The names in a plain text that begin with the title and are not it.

        They go on ("Alien: Covenant"), or another year stands behind them ("Alien (2017)").
        """
        return self._alone.other_names(text)

    def in_text(self, text: str) -> int | None:
        """At which word, counted from 0, a text first names the item; None if it does not."""
        return next((place for place, _ in self._alone.in_text(text)), None)

    def years_from(self, year: int | None) -> int:
        """How far the year is from the item's; 0 if one of them is not known."""
        return abs(self.year - year) if self.year and year else 0

    @cached_property
    def _alone(self) -> "TitleIndex":
        return TitleIndex([self])


class TitleIndex:
    """Finds which of many titles a text names. The longest name counts where names overlap.

    A name of ordinary words ("Up", "The Others") counts only where it is written as a title. A year
    behind a name must be the item's; releases differ by a year between countries. A name that goes
    on is another one: "Speed Racer" is not "Speed".
    """

    def __init__(self, titles: Iterable[Title], values: Collection[str] = ()):
        """Of titles with the same name, the first one is preferred.

        `values` are folded words that mean themselves, such as genres and people: a title of that
        name counts only in quotation marks, with its year, or as an entry of a list, and a shorter
        title within such a name ("Jack" in "Jack Black") does not count.
        """
        self._by_alias: dict[str, list[Title]] = {}
        self._longest: dict[str, int] = {}
        self._values = frozenset(values)
        for title in titles:
            for alias in title.aliases:
                self._by_alias.setdefault(alias, []).append(title)
        for name in (*self._by_alias, *self._values):
            first, length = name.partition(" ")[0], name.count(" ") + 1
            self._longest[first] = max(length, self._longest.get(first, 0))

    def called(self, name: str) -> Title | None:
        """The title that a list entry means, with or without its year."""
        entry = Title(name)
        same = [each for alias in sorted(entry.aliases) for each in self._by_alias.get(alias, ())]
        return _nearest(same, entry.year)

    def in_text(self, text: str) -> Iterator[tuple[int, Title]]:
        """The titles in the text's order, as often as they are named, each with its first word."""
        for start, _, found in self._read(text):
            if isinstance(found, Title):
                yield start, found

    def without(self, text: str, keep: Title) -> str:
        """The plain text with a gap for each title, but for those of which `keep` has a name."""
        text = plain(text)
        marks, rest, end = _marks(text), "", 0
        for start, stop, found in self._titles(marks):
            if keep.aliases.isdisjoint(found.aliases):
                rest += f"{text[end : marks.words[start].start]} … "
                end = marks.words[stop - 1].end
        return rest + text[end:]

    def all_in_text(self, text: str) -> Iterator["Title | str"]:
        """The titles in the text's order, and the names with a year that are none of the index."""
        read = list(self._read(text))
        return (found for *_, found in sorted(read, key=lambda each: each[0]))

    def other_names(self, text: str) -> Iterator[str]:
        """The names in a plain text that begin with a title of the index and are none of it."""
        marks = _marks(text)
        for start, word in enumerate(marks.words):
            for end in range(start + 1, start + 1 + self._longest.get(word.key, 0)):
                same = self._by_alias.get(" ".join(each.key for each in marks.words[start:end]), ())
                if same and (stop := self._end_of_other(marks, end, same)):
                    yield text[word.start : stop]

    def _end_of_other(self, marks: Marks, end: int, same: Sequence[Title]) -> int:
        """Where in the text a name ends that is not these titles; 0 if it is one of them."""
        if year := _YEAR_BEHIND.match(marks.text, marks.words[end - 1].end):
            return 0 if _nearest(same, int(year[1])) else year.end()
        if marks.words[end - 1].text[0].islower() or marks.goes_on_until(end) == end:
            return 0
        return marks.words[marks.goes_on_until(end) - 1].end

    def _read(self, text: str) -> Iterator[tuple[int, int, "Title | str"]]:
        """First word, last word and title of each name; other names with a year come at the end."""
        marks = _marks(plain(text))
        named = list(self._titles(marks))
        yield from named
        yield from marks.dated_names([(start, end) for start, end, _ in named])

    def _titles(self, marks: Marks) -> Iterator[tuple[int, int, Title]]:
        said, start, behind = marks.words, 0, -1
        while start < len(said):
            longest = self._longest.get(_without_s(said[start]), 0)
            longest = max(longest, self._longest.get(said[start].key, 0))
            for end in range(min(start + longest, len(said)), start, -1):
                if title := self._named(marks, start, end, behind):
                    yield start, end, title
                    behind = end
                elif not self._is_other(said[start:end]):
                    continue
                start = end
                break
            else:
                start += 1

    def _named(self, marks: Marks, start: int, end: int, behind: int) -> Title | None:
        """The title that words name; `behind` is the word at which the last title ended."""
        alias, same = self._spelt(marks.words[start:end])
        if not same or (marks.breaks(start, end) and not any(map(_has_stop, same))):
            return None
        year = _YEAR_BEHIND.match(marks.text, marks.words[end - 1].end)
        if year is None and not self._is_meant(alias, marks, start, end):
            return None
        if start != behind and marks.begins_earlier(start, end):
            return None
        if year is None and marks.goes_on_until(end) > end:
            return None
        return _nearest(same, int(year[1]) if year else None)

    def _spelt(self, span: Sequence[Word]) -> tuple[str, list[Title]]:
        """The titles that are spelt so, also where the last word is a possessive ("Heat's")."""
        alias = " ".join(word.key for word in span)
        if same := self._by_alias.get(alias):
            return alias, same
        owner = " ".join([*(word.key for word in span[:-1]), _without_s(span[-1])])
        return owner, [] if is_ordinary(owner.split()) else self._by_alias.get(owner, [])

    def _is_meant(self, alias: str, marks: Marks, start: int, end: int) -> bool:
        if alias in self._values:
            return marks.is_set_off(start, end)
        return not is_ordinary(alias.split()) or marks.is_title(start, end)

    def _is_other(self, span: Sequence[Word]) -> bool:
        """Whether several words are a name that is no title."""
        return len(span) > 1 and " ".join(word.key for word in span) in self._values


@functools.lru_cache(4)  # many titles are looked for in one text
def _marks(text: str) -> Marks:
    return Marks(text, words(text))


def _nearest(titles: Iterable[Title], year: int | None) -> Title | None:
    """The first title with that year, or one off; a title without a year comes last."""
    near = [title for title in titles if title.years_from(year) <= 1]
    if year is None:
        return next(iter(near), None)
    return min(near, key=lambda title: abs((title.year or 0) - year), default=None)


def _without_s(word: Word) -> str:
    """The key of "Heat" for "Heat's"; that of other words as it is."""
    return word.key[:-1] if word.text[-2:-1] in ("'", "’") and word.key[-1] == "s" else word.key


def _has_stop(title: Title) -> bool:
    return re.search(r"[.!?;]\s", title.spelling) is not None
