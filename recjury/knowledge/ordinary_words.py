"""Lists of ordinary English words, to distinguish ordinary language from titles of such words.

`ordinary.txt` has ordinary words that are also one-word titles. `common.txt` has the most common
words, for titles of two or three words.
"""

from functools import cache
from pathlib import Path
from typing import Literal

WordList = Literal["name", "talk", "common"]
MAX_ORDINARY_WORDS = 3


@cache
def word_list(name: WordList) -> frozenset[str]:
    """The words of one list, in lower case.

    "name" has the ordinary words for entity linking, "talk" those for the leak guard; the two lists
    share nine words in ten. "common" has the most common words.
    """
    file = Path(__file__).with_name("common.txt" if name == "common" else "ordinary.txt")
    lines = (line for line in file.read_text("utf-8").splitlines() if line and line[0] != "#")
    entries = (line.partition(" ") for line in lines)
    return frozenset(word for word, _, only in entries if only in ("", name))


def is_ordinary_word(word: str) -> bool:
    """Whether a lower-case word is an everyday word, a number, or a single letter."""
    return len(word) == 1 or word.isdigit() or word in word_list("talk")


def is_ordinary_title(keys: list[str]) -> bool:
    """Whether these words could occur in a sentence without being meant as a title."""
    if len(keys) > MAX_ORDINARY_WORDS:
        return False
    known = word_list("name" if len(keys) == 1 else "common")
    return all(key in known or key.isdigit() or len(key) == 1 for key in keys)


def is_phrase(keys: list[str]) -> bool:
    """Whether these are two or three ordinary words: "the box", "taxi driver"."""
    names, common = word_list("name"), word_list("common")
    return 1 < len(keys) <= MAX_ORDINARY_WORDS and all(
        key in names or key in common or key.isdigit() or len(key) == 1 for key in keys
    )
