"""Lists of ordinary English words: what distinguishes talk from the titles made of such words.

`ordinary.txt` holds the words that may be a title of one word without being meant as one,
`common.txt` the commonest words, of which titles of two or three words may be made.
"""

from functools import cache
from pathlib import Path
from typing import Literal

WordList = Literal["name", "talk", "common"]
MAX_ORDINARY_WORDS = 3


@cache
def word_list(name: WordList) -> frozenset[str]:
    """The words of one list, in lower case.

    "name" has the ordinary words that entity linking knows, "talk" those that the leak guard
    knows; the two share nine words in ten. "common" has the commonest words.
    """
    file = Path(__file__).with_name("common.txt" if name == "common" else "ordinary.txt")
    lines = (line for line in file.read_text("utf-8").splitlines() if line and line[0] != "#")
    entries = (line.partition(" ") for line in lines)
    return frozenset(word for word, _, only in entries if only in ("", name))


def is_ordinary_word(word: str) -> bool:
    """Whether a lower-case word is everyday talk, a number, or a single letter."""
    return len(word) == 1 or word.isdigit() or word in word_list("talk")


def is_ordinary_title(keys: list[str]) -> bool:
    """Whether a title of these words could stand in a sentence without being meant."""
    if len(keys) > MAX_ORDINARY_WORDS:
        return False
    known = word_list("name" if len(keys) == 1 else "common")
    return all(key in known or key.isdigit() or len(key) == 1 for key in keys)


def is_phrase(keys: list[str]) -> bool:
    """Whether two or three words are all words of the language: "the box", "taxi driver"."""
    known = word_list("name") | word_list("common")
    return 1 < len(keys) <= MAX_ORDINARY_WORDS and all(
        key in known or key.isdigit() or len(key) == 1 for key in keys
    )
