"""The words of texts and names, in the form in which they are compared."""

import functools
import html
import re
import unicodedata
from collections.abc import Container, Iterator
from importlib import resources
from typing import Literal, NamedTuple

_APOSTROPHES = "'’‘ʼ´`"
_WORD = re.compile(rf"&|[^\W_]+(?:[{_APOSTROPHES}][^\W_]+)*")
_SPELT = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "&": "and"})
_PHRASE = 5  # words of a value
_LONG = 4  # words: so many ordinary ones in a row are a title


class Word(NamedTuple):
    """A word of a text: `text[start:end]` as it is written, `key` as it is compared."""

    text: str
    start: int
    end: int
    key: str


def fold(text: str) -> str:
    """Letters and digits in lower case, without accents and marks, one space between words."""
    return " ".join(word.key for word in words(plain(text)))


def plain(text: str) -> str:
    """The text with characters in place of HTML's references ("&amp;"), without invisible ones."""
    text = html.unescape(text) if "&" in text else text
    if text.isascii():
        return text
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf")


def is_blank(text: str) -> bool:
    """Whether a text has nothing to be seen: spaces, and characters of no width."""
    return not plain(text).strip()


def words(text: str) -> list[Word]:
    """The words of a plain text, with their places."""
    found = (Word(m[0], m.start(), m.end(), _key(m[0])) for m in _WORD.finditer(text))
    return [word for word in found if word.key]


def phrases_in(text: str, known: Container[str]) -> Iterator[tuple[int, int, str]]:
    """The known phrases in a text, each with its first word and the one after its last.

    All are folded. Where phrases overlap, the longest one at the first word counts.
    """
    said, start = fold(text).split(), 0
    while start < len(said):
        for end in range(min(start + _PHRASE, len(said)), start, -1):
            if (phrase := " ".join(said[start:end])) in known:
                yield start, end, phrase
                start = end
                break
        else:
            start += 1


@functools.lru_cache(50_000)
def _key(word: str) -> str:
    bare = re.sub(f"[{_APOSTROPHES}]", "", word)
    if not bare.isascii():
        bare = unicodedata.normalize("NFKD", bare)
        bare = "".join(sign for sign in bare if not unicodedata.combining(sign))
    return "".join(re.findall(r"[^\W_]", bare.casefold().translate(_SPELT)))


def is_ordinary(keys: list[str]) -> bool:
    """Whether the words may stand in a sentence without being meant as a title.

    That is one ordinary word, or two or three of the commonest ones.
    """
    known = ordinary_words("name") if len(keys) == 1 else _common()
    return len(keys) < _LONG and _are_in(known, keys)


def is_common(key: str) -> bool:
    """Whether a word is one of the commonest, with which people begin sentences."""
    return key in _common()


def _are_in(known: frozenset[str], keys: list[str]) -> bool:
    return all(len(key) == 1 or key.isdigit() or key in known for key in keys)


@functools.cache
def ordinary_words(use: Literal["name", "talk"]) -> frozenset[str]:
    """The words of `ordinary.txt` without a mark, or with that mark.

    Those for "name" are not meant as names in texts, those for "talk" are no leaks.
    """
    entries = (line.split() for line in _lines("ordinary.txt"))
    return frozenset(entry[0] for entry in entries if entry[1:] in ([], [use]))


@functools.cache
def _common() -> frozenset[str]:
    return frozenset(_lines("common.txt"))


def _lines(file: str) -> list[str]:
    lines = resources.files(__package__).joinpath(file).read_text("utf-8").splitlines()
    return [line for line in lines if line and line[0] != "#"]
