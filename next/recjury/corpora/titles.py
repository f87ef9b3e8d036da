"""`Title`: what names an item in a text. Lists and texts are matched by the same names."""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib import resources

_YEAR = re.compile(r"\s*\((?P<year>(?:18|19|20)\d\d)\)\s*$")
_ARTICLE = re.compile(r"^(?:the|a|an) ")
_ARTICLE_LAST = re.compile(r"^(?P<name>.+), (?P<article>the|a|an)$", re.IGNORECASE)
_LONG = 4  # words: so many ordinary ones in a row are a title
_SMALL = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "the", "to"})


def fold(text: str) -> str:
    """Letters and digits in lower case, without accents and marks, one space between words."""
    plain = unicodedata.normalize("NFKD", text).replace("'", "").replace("’", "")
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return " ".join(re.findall(r"[^\W_]+", plain.casefold()))


class Title:
    """The names of one item: with and without an article, its year apart."""

    def __init__(self, name: str):
        """`name` may end with a year in brackets."""
        year = _YEAR.search(name)
        self.year = int(year["year"]) if year else None
        bare = fold(_ARTICLE_LAST.sub(r"\g<article> \g<name>", _YEAR.sub("", name)))
        self.aliases = frozenset({bare, _ARTICLE.sub("", bare)} - {""})

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
    behind a name must be the item's; releases differ by a year between countries.
    """

    def __init__(self, titles: Iterable[Title]):
        """Of titles with the same name, the first one is preferred."""
        self._by_alias: dict[str, list[Title]] = {}
        for title in titles:
            for alias in title.aliases:
                self._by_alias.setdefault(alias, []).append(title)
        self._longest = max((alias.count(" ") + 1 for alias in self._by_alias), default=0)

    def called(self, name: str) -> Title | None:
        """The title that a list entry means, with or without its year."""
        entry = Title(name)
        same = [each for alias in sorted(entry.aliases) for each in self._by_alias.get(alias, ())]
        return _nearest(same, entry.year)

    def in_text(self, text: str) -> Iterator[tuple[int, Title]]:
        """The titles in the text's order, as often as they are named, each with its first word."""
        words, start = fold(text).split(), 0
        while start < len(words):
            for end in range(min(start + self._longest, len(words)), start, -1):
                if title := self._named(text, words, start, end):
                    yield start, title
                    start = end
                    break
            else:
                start += 1

    def _named(self, text: str, words: list[str], start: int, end: int) -> Title | None:
        alias = " ".join(words[start:end])
        same = self._by_alias.get(alias, [])
        if not same:
            return None
        after = words[end] if end < len(words) else ""
        year = int(after) if re.fullmatch(r"(?:18|19|20)\d\d", after) else None
        if year is None and _is_ordinary(alias) and not _is_marked(alias, text):
            return None
        return _nearest(same, year)


def _nearest(titles: Iterable[Title], year: int | None) -> Title | None:
    near = [title for title in titles if title.years_from(year) <= 1]
    return min(near, key=lambda title: title.years_from(year), default=None)


def _is_ordinary(alias: str) -> bool:
    words, known = alias.split(), _ordinary_words()
    return len(words) < _LONG and all(
        len(word) == 1 or word.isdigit() or word in known for word in words
    )


@functools.lru_cache(10_000)
def _marks(alias: str) -> re.Pattern[str]:
    """Quoted, a list's entry, a whole sentence, or with capitals where no sentence begins."""
    any_case, capitals = (r"[\W_]+".join(map(each, alias.split())) for each in (_spelt, _capital))
    before = r"(?:^|[.!?:]\s)" if " " in alias else r"(?!)"
    if alias.replace(" ", "").isdigit():
        capitals = "(?!)"
    return re.compile(
        rf"""["“‘*_](?i:(?:the|an?)\ )?(?i:{any_case})[.,!?]?["”’*_]"""
        rf"""|^\s*(?:\d+[.)]|[-*•])\s*(?i:(?:the|an?)\ )?(?i:{any_case})\s*(?:$|[-–—:(,])"""
        rf"""|(?:(?<=[a-z,;]\s)|{before})(?:The\ |An?\ )?{capitals}\b"""
        rf"""|(?:^|[.!?]\s)(?:The\ |An?\ )?{capitals}[.:]""",
        re.MULTILINE,
    )


def _is_marked(alias: str, text: str) -> bool:
    return _marks(alias).search(text) is not None


def _spelt(word: str) -> str:
    return "['’]?".join(map(re.escape, word))


def _capital(word: str) -> str:
    """How a word of a title is written: small words may do without a capital."""
    return rf"(?i:{word})" if word in _SMALL else _spelt(word[0].upper() + word[1:])


@functools.cache
def _ordinary_words() -> frozenset[str]:
    """The words for names: those without a mark, or with "name"."""
    lines = resources.files(__package__).joinpath("ordinary.txt").read_text("utf-8").splitlines()
    entries = (line.split() for line in lines if line[:1] != "#")
    return frozenset(entry[0] for entry in entries if entry and entry[1:] in ([], ["name"]))
