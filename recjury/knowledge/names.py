"""How names are taken apart: titles and years, words, and the form in which words are compared."""

import re
import unicodedata
from typing import NamedTuple

_TITLE_AND_YEAR = re.compile(r"(.*\S)\s*\((\d{4})\)\s*")
# A letter may be followed by its accents: "é" is one character or two.
_LETTERS = r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*"
_WORD = re.compile(rf"{_LETTERS}(?:['’]{_LETTERS})*|&")


class TitleYear(NamedTuple):
    """A name without the year in brackets at its end, and that year where it has one."""

    title: str
    year: int | None


class Word(NamedTuple):
    """One word of a text: where it stands, as written, and the form it is compared in."""

    start: int
    end: int
    text: str
    key: str


def split_year(name: str) -> TitleYear:
    """Split "Heat (1995)" into "Heat" and 1995; a name without a year comes back whole."""
    found = _TITLE_AND_YEAR.fullmatch(name)
    return TitleYear(found[1], int(found[2])) if found else TitleYear(name.strip(), None)


def words(text: str) -> list[Word]:
    """The words of `text` in order; an apostrophe inside a word belongs to it, "&" is a word."""
    return [
        Word(found.start(), found.end(), found[0], word_key(found[0]))
        for found in _WORD.finditer(text)
    ]


def word_key(word: str) -> str:
    """The form in which words are compared: no case, accents or apostrophes; "&" is "and"."""
    if word.isascii():
        return "and" if word == "&" else word.lower().replace("'", "")
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c) and c not in "'’")
