"""Appropriateness: words that are vulgar or offensive in any context, from recjury's own list."""

import functools
import re
from importlib import resources

from recjury.judges.measured.anchors import (
    Occurrence,
    Outcome,
    counted,
    join_first,
    not_applicable,
    not_measured,
)
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.text import MaskedText


@functools.cache
def _lexicon() -> re.Pattern[str]:
    text = (resources.files(__package__) / "offensive.txt").read_text("utf-8")
    lines = [line.strip() for line in text.splitlines()]
    words = [line for line in lines if line and not line.startswith("#")]
    stems = "|".join(re.escape(word).replace(r"\*", r"[a-z]{0,8}") for word in words)
    return re.compile(rf"(?<![a-z]){'(?:' + stems + ')'}(?![a-z])")


def offensive(utterance: MaskedText) -> list[str]:
    """The listed words in a text; linked titles are left out."""
    return [match.group() for match in _lexicon().finditer(utterance.plain)]


def appropriateness(annotated: AnnotatedLog) -> Outcome:
    """Always without a score; the reason names the words that were found.

    In 5,344 recorded logs, the list matched only parts of titles and mentions of a single word.
    A score would therefore be 4 for nearly every log (docs/measured-judges.md).
    """
    if not annotated.spoken:
        return not_applicable("the system said nothing")
    found = [
        Occurrence(turn.number, repr(word))
        for turn in annotated.spoken
        for word in offensive(turn.utterance)
    ]
    if found:
        words = f"{counted(len(found), 'offensive word')}: {join_first(found)}"
        return not_measured(f"{words}; words alone do not tell what is appropriate")
    return not_measured("no listed word, which is true of nearly every log and shows nothing")
