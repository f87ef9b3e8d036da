"""The words that the search compares: folded, stemmed, without stop words."""

import re
from collections.abc import Iterator
from functools import lru_cache

from recjury.knowledge import fold
from recjury.language.vocabulary import words

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CONTRACTION = re.compile(r"['’](s|re|ve|ll|d|m|t)$")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))


class Term(str):
    """A stemmed word with its position in the text."""

    __slots__ = ("start",)

    start: int


def content_words(text: str) -> Iterator[Term]:
    """The words of `text` that are not stop words, stemmed, in order."""
    for match in _WORD.finditer(text):
        if stemmed := _content(match.group()):
            word = Term(stemmed)
            word.start = match.start()
            yield word


@lru_cache(maxsize=50_000)
def _content(word: str) -> str:
    """The stem of a word; empty for a stop word and for a single letter."""
    plain = _CONTRACTION.sub("", fold(word))
    stemmed = stem(plain)
    return "" if len(plain) < 2 or {plain, stemmed} & words("small_talk") else stemmed


def plain_words(text: str) -> Iterator[str]:
    """All words of `text` as written, in order."""
    return (match.group() for match in _WORD.finditer(text))


def stem(word: str) -> str:
    """`word` without a plural or verb ending, so that "robberies" finds "robbery"."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word
