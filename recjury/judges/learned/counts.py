"""What is counted in a dialogue beside reading it: lengths, questions, thanks, repetitions."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recjury.records import Speaker, Turn

_THANKS = ("thank",)
_DENIALS = ("no ", "not ", "n't")
_PRAISE = ("great", "good", "love", "awesome", "perfect", "nice", "cool")
_AGREEMENT = ("yes", "sure", "ok")
_APOLOGIES = ("sorry", "unable", "unfortunately")


class DialogueCounts:
    """The counts of a dialogue, most of them as log(1 + count)."""

    def __init__(self, turns: Sequence[Turn], length: Callable[[str], int]):
        """`length` counts the tokens of a text."""
        self._speakers = [turn.speaker for turn in turns]
        self._users = _Side([turn.text for turn in turns if turn.speaker is Speaker.USER], length)
        self._system = _Side(
            [turn.text for turn in turns if turn.speaker is Speaker.SYSTEM], length
        )

    def values(self) -> NDArray[np.float32]:
        """The numbers [COUNTS]."""
        users, system = self._users, self._system
        in_a_row = sum(one is other is Speaker.USER for one, other in pairwise(self._speakers))
        last = users.texts[-1] if users.texts else ""
        logs = [
            len(self._speakers),
            *(users.mean, system.mean, users.longest, system.longest, system.shortest),
            *(len(users.texts), in_a_row, users.count(_THANKS), users.count(_DENIALS)),
            *(users.count("?"), users.count("!"), system.count("?"), system.count("!")),
            *(system.count(_APOLOGIES), users.count(_PRAISE), users.count(_AGREEMENT)),
            *(len(last.split()), system.count('"'), users.count('"')),
            len(system.texts) - len(set(system.texts)),
        ]
        plain = [
            in_a_row / max(1, len(users.texts)),
            *(float("thank" in last), float("bye" in last)),
            *(system.most_overlap, system.mean_overlap),
            float(bool(self._speakers) and self._speakers[-1] is Speaker.USER),
        ]
        return np.array([*map(math.log1p, logs), *plain], dtype=np.float32)


class _Side:
    """What one speaker said, in lower case."""

    def __init__(self, texts: Sequence[str], length: Callable[[str], int]):
        lengths = [length(text) for text in texts] or [0]
        self.texts = [text.lower() for text in texts]
        self.mean = sum(lengths) / len(lengths)
        self.longest, self.shortest = max(lengths), min(lengths)
        words = [set(text.split()) for text in self.texts]
        shared = [
            len(one & other) / max(1, len(one | other)) for one, other in pairwise(words)
        ] or [0.0]
        self.most_overlap, self.mean_overlap = max(shared), sum(shared) / len(shared)

    def count(self, parts: Sequence[str]) -> int:
        """How often any of the parts occurs."""
        return sum(text.count(part) for text in self.texts for part in parts)


COUNTS = len(DialogueCounts((), len).values())
"""How many numbers there are."""
