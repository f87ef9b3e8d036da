"""Words and phrases of everyday language, with which the leak guard recognises non-titles."""

from pathlib import Path
from typing import NamedTuple

import yaml


class Talk(NamedTuple):
    """Sets of lower-case words and phrases (`known_initialisms`: capitals).

    `talk.yaml` says what each set is for.
    """

    function_words: frozenset[str]
    proper_words: frozenset[str]
    genre_words: frozenset[str]
    item_words: frozenset[str]
    fillers: frozenset[str]
    generic_parts: frozenset[str]
    known_initialisms: frozenset[str]
    everyday_phrases: frozenset[str]


def _read() -> Talk:
    text = Path(__file__).with_name("talk.yaml").read_text("utf-8")
    sets: dict[str, str | list[str]] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    return Talk(
        **{
            name: frozenset(value.split() if isinstance(value, str) else value)
            for name, value in sets.items()
        }
    )


TALK = _read()
