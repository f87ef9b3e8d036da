"""Splits texts and names into tokens, and names into title and year."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recjury.knowledge.folding import fold

# A letter may be followed by its accents: "é" is one character or two.
_LETTERS = r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*"
_WORD = re.compile(rf"{_LETTERS}(?:['’]{_LETTERS})*|&")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_TITLE_AND_YEAR = re.compile(r"(.*\S)\s*\((\d{4})\)\s*")


class Token(NamedTuple):
    """One token: `text[start:end]` as written, and the key under which it is compared.

    `run` numbers the runs of characters without a space or punctuation. Only `tokenize_parts`
    splits a run into several tokens.
    """

    start: int
    end: int
    text: str
    key: str
    run: int


class TitleYear(NamedTuple):
    """A name without the year in brackets at its end, and that year, or None."""

    title: str
    year: int | None


def split_year(name: str) -> TitleYear:
    """Split "Heat (1995)" into "Heat" and 1995; a name without a year is returned whole."""
    found = _TITLE_AND_YEAR.fullmatch(name)
    return TitleYear(found[1], int(found[2])) if found else TitleYear(name.strip(), None)


def tokenize(text: str) -> list[Token]:
    """The words of `text` in order; an apostrophe inside a word belongs to it, "&" is a word."""
    return [
        Token(*found.span(), word := found[0], token_key(word), number)
        for number, found in enumerate(_WORD.finditer(text))
    ]


def token_key(word: str) -> str:
    """The key of a word: lower case, without accents and apostrophes; "&" becomes "and"."""
    if word.isascii() and word.isalnum():  # nearly all words
        return word.lower()
    if word == "&":
        return "and"
    return fold(word).replace("'", "").replace("’", "")


def tokenize_parts(folded: str) -> list[Token]:
    """The words of a text from `fold_disguises`, further split at CamelCase and digits.

    Takes time linear in the length of the text.
    """
    return list(_parts(folded))


def _parts(folded: str) -> Iterator[Token]:
    run, end = -1, -1
    for found in _PART.finditer(folded):
        if found.start() != end:
            run += 1
        end = found.end()
        yield Token(found.start(), end, found[0], found[0].lower(), run)
