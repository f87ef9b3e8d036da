"""How much of a reply is copied from the dialogue before it."""

import re
from collections.abc import Sequence

from recjury.records import Turn

TURNS = 6
"""How many of the last turns are compared."""

_RUN = 5  # words: people rarely repeat so many in a row
_WORDS = re.compile(r"\w+(?:['’]\w+)*")


def copied_share(history: Sequence[Turn], text: str) -> float:
    """The share of a reply's words, 0 to 1, that stand in the same order in one of the last turns.

    Runs of five words count, and the whole of a turn that is shorter, but not a single word.
    """
    words = _words(text)
    copied = [False] * len(words)
    for turn in history[-TURNS:]:
        before = _words(turn.text)
        length = min(_RUN, len(before))
        if length < 2:
            continue
        runs = {tuple(before[at : at + length]) for at in range(len(before) - length + 1)}
        for at in range(len(words) - length + 1):
            if tuple(words[at : at + length]) in runs:
                copied[at : at + length] = [True] * length
    return sum(copied) / len(words) if words else 0.0


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.lower())
