"""The small slips of people who do not command the language well.

They leave out an article or an apostrophe, or say "don't" for "doesn't". Names are not touched: the
slips are made before a sentence's slots are filled.
"""

import re
from collections.abc import Callable
from random import Random

_ARTICLE = re.compile(r"(?<=[a-z,] )(?:a|an|the) (?=[a-z])")
_APOSTROPHE = re.compile(r"(?<=[a-z])['’](?=[a-z])", re.IGNORECASE)
_THIRD_PERSON = re.compile(r"\bdoes(?=n['’]t\b)")
_ALL_ARTICLES = re.compile(r"\b(?:an?|the)\b ?")
_THIRD_PERSON_PLAIN = re.compile(r"\bdoesnt\b")


def slipped(text: str, draw: Random) -> str:
    """The text with one slip, if it has a place for one; its slots stay as they are."""
    slips: list[Callable[[str], str]] = [
        lambda said: _ARTICLE.sub("", said, count=1),
        lambda said: _APOSTROPHE.sub("", said),
        lambda said: _THIRD_PERSON.sub("do", said),
    ]
    draw.shuffle(slips)
    return next((made for slip in slips if (made := slip(text)) != text), text)


def without_slips(text: str) -> str:
    """The text in lower case without what a slip may change, to compare sentences by."""
    plain = _ALL_ARTICLES.sub("", _APOSTROPHE.sub("", text.lower()))
    return _THIRD_PERSON_PLAIN.sub("dont", plain)
