"""The names in a turn: its items, titles in quotation marks or with a year, capitalised words."""

import re
from typing import NamedTuple

from recjury.records import Turn

_YEAR = r"\(\s*(?:18|19|20)\d\d\s*\)"
# Without a bound on a word's length, the time would be quadratic in that length.
_TITLE_WORD = r"[A-Z0-9][\w'’:.&!-]{0,40}"
_TITLE_WITH_YEAR = re.compile(
    rf"((?:{_TITLE_WORD}\s+(?:(?:of|the|and|in|a|to|for|on|at|from|with|vs\.?)\s+)*)"
    rf"{{1,8}}){_YEAR}"
)
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,60})[\"”]")
_CAPITALISED = re.compile(
    r"(?<=[a-z,;:] )([A-Z][a-z]+(?:[ -](?:(?:of|the|de|van)[ ])?[A-Z][a-z]+)*)\b"
)
_NO_NAMES_TEXT = (
    "I Yes No Ok Okay Oh Well Hi Hello The This That What When Where Why How Thanks Thank Please "
    "Sorry Sure Maybe Also And But So It He She We They You My Your Goodbye Bye"
)
_NO_NAMES = frozenset(_NO_NAMES_TEXT.split())


class MentionedName(NamedTuple):
    """A name as a text has it, and whether it is a title, or another name."""

    text: str
    title: bool


def names_in(turn: Turn) -> tuple[MentionedName, ...]:
    """The names that a turn's text has, in the order of their kinds.

    At the start of a sentence a capital tells nothing, and in text without capitals only quotation
    marks, years and the turn's own items tell names.
    """
    text = turn.text
    titles = [item.name for item in turn.items if item.name and item.name in text]
    titles += [match[1].strip() for match in _TITLE_WITH_YEAR.finditer(text)]
    titles += [match[1].strip() for match in _QUOTED.finditer(text)]
    others = [match[1] for match in _CAPITALISED.finditer(text) if match[1] not in _NO_NAMES]
    known = dict.fromkeys(title for title in titles if title)
    return (
        *(MentionedName(title, True) for title in known),
        *(MentionedName(other, False) for other in dict.fromkeys(others) if other not in known),
    )
