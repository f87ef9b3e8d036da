"""Words and phrases that mean nothing by themselves: how the guard tells talk from titles."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml


class Vocabulary(NamedTuple):
    """Sets of lower-case words and phrases (`known_initialisms`: capitals).

    What each is for stands in `vocabulary.yaml`.
    """

    function_words: frozenset[str]
    proper_words: frozenset[str]
    genre_words: frozenset[str]
    fillers: frozenset[str]
    generic_parts: frozenset[str]
    known_initialisms: frozenset[str]
    everyday_phrases: frozenset[str]


def _read() -> Vocabulary:
    text = Path(__file__).with_name("vocabulary.yaml").read_text("utf-8")
    sets: dict[str, str | list[str]] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    return Vocabulary(
        **{
            name: frozenset(value.split() if isinstance(value, str) else value)
            for name, value in sets.items()
        }
    )


VOCABULARY = _read()


@cache
def ordinary_words() -> frozenset[str]:
    """Words of everyday talk, in lower case."""
    text = Path(__file__).with_name("ordinary_words.txt").read_text("utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


def is_everyday_word(word: str) -> bool:
    """Whether a lower-case word is everyday talk, a number, or a single letter."""
    return len(word) == 1 or word.isdigit() or word in ordinary_words()
