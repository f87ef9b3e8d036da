"""Unlisted titles: capitalised names before a year in brackets, and quoted ones."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_YEAR = re.compile(r"\((?:18|19|20)\d\d\)")
_QUOTED = re.compile(r"[\"“]([A-Z0-9][^\"“”\n]{1,60})[\"”]")
_WORD = re.compile(r"\S+")
_TITLE_WORDS = 10
_TITLE_LETTERS = 120
_INSIDE_TITLES = frozenset("a an and at for from in of on or the to vs with & -".split())  # noqa: SIM905


class TitleSpan(NamedTuple):
    """A span that looks like a title; `title` has no punctuation at its ends."""

    start: int
    end: int
    title: str


def dated_titles(text: str) -> Iterator[TitleSpan]:
    """The capitalised names that are followed by a year in brackets, with that year."""
    for year in _YEAR.finditer(text):
        start = _title_start(text, year.start())
        if start is not None:
            yield TitleSpan(start, year.end(), text[start : year.end()])


def quoted_titles(text: str) -> Iterator[TitleSpan]:
    """Quoted names that begin with a capital, are not all capitals, and contain no year."""
    for found in _QUOTED.finditer(text):
        if _YEAR.search(found[1]) is None and any(sign.islower() for sign in found[1]):
            yield TitleSpan(found.start(1), found.end(1), found[1].strip(" .,!?"))


def unlisted_titles(text: str, taken: Sequence[tuple[int, int]]) -> Iterator[TitleSpan]:
    """The titles outside the `taken` spans, which are sorted and do not overlap."""
    for each in _looks(text):
        last = bisect_left(taken, (each.end, 0)) - 1
        if last < 0 or taken[last][1] <= each.start:
            yield each


def _looks(text: str) -> Iterable[TitleSpan]:
    yield from dated_titles(text)
    yield from quoted_titles(text)


def _title_start(text: str, end: int) -> int | None:
    """Where the capitalised words before position `end` begin; None without such words."""
    window = text[max(0, end - _TITLE_LETTERS) : end]
    offset = end - len(window)
    start: int | None = None
    for found in list(_WORD.finditer(window))[: -_TITLE_WORDS - 1 : -1]:
        word = found.group()
        if word[0].isupper() or word[0].isdigit():
            start = offset + found.start()
        elif word not in _INSIDE_TITLES:
            break
        if word[-1] in ".!?" and found.end() < len(window.rstrip()):
            break
    return start
