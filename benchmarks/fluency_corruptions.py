"""Breaks sentences of people on purpose: words dropped, swapped, repeated, replaced or spliced."""

import random
from collections import Counter
from collections.abc import Sequence

from recjury.judges.measured.fluency import FUNCTION_WORDS
from recjury.judges.measured.text import Sentence

_OPERATIONS = [
    "drop",
    "drop",
    "drop_small",
    "swap",
    "repeat",
    "repeat_run",
    "insert",
    "replace",
    "replace_small",
    "splice",
    "copy",
    "agree",
]
_AGREEMENT = dict(
    pair.split(":")
    for pair in [
        "is:are",
        "are:is",
        "was:were",
        "were:was",
        "has:have",
        "have:has",
        "do:does",
        "does:do",
        "a:an",
        "an:a",
        "him:he",
        "his:her",
        "who:which",
        "to:for",
        "of:to",
        "in:on",
        "good:well",
    ]
)
_FREQUENT, _KNOWN = 300, 4000


class Corruptor:
    """Draws one to three changes for a sentence."""

    def __init__(self, sentences: Sequence[Sentence], seed: int):
        """Words are drawn from the frequent ones of `sentences`, splices from all of them."""
        self._rng = random.Random(seed)
        self._sentences = sentences
        counts = Counter(word for sentence in sentences for word in sentence.words)
        known = [word for word, _ in counts.most_common(_KNOWN)]
        self._known, self._frequent = known, known[:_FREQUENT]

    def __call__(self, sentence: Sentence) -> Sentence | None:
        """A broken sentence; None if nothing was changed, or too little is left."""
        words = list(sentence.raw)
        breaks = list(sentence.breaks)
        for _ in range(self._rng.choice((1, 1, 1, 2, 2, 3))):
            self._change(words)
        if tuple(words) == sentence.raw or len(words) < 3:
            return None
        breaks = (breaks + [False] * len(words))[: len(words)]
        return Sentence(words, [True, *breaks[1:]], sentence.ending)

    def _change(self, words: list[str]) -> None:
        operation = self._rng.choice(_OPERATIONS)
        at = self._rng.randrange(len(words))
        if operation in {"drop", "drop_small", "swap"}:
            self._remove_or_swap(operation, words, at)
        elif operation in {"repeat", "repeat_run", "copy"}:
            self._repeat(operation, words, at)
        else:
            self._replace(operation, words, at)

    def _remove_or_swap(self, operation: str, words: list[str], at: int) -> None:
        small = [i for i, word in enumerate(words) if word.lower() in FUNCTION_WORDS]
        if operation == "drop" and len(words) > 4:
            del words[at : at + min(self._length(), len(words) - 3)]
        elif operation == "drop_small" and small and len(words) > 3:
            del words[self._rng.choice(small)]
        elif operation == "swap" and at + 1 < len(words):
            words[at], words[at + 1] = words[at + 1], words[at]

    def _repeat(self, operation: str, words: list[str], at: int) -> None:
        to = self._rng.randrange(len(words)) if operation == "copy" else at
        if operation == "repeat":
            words[at:at] = [words[at]] * self._length()
        else:
            words[to:to] = words[at : at + (2 if operation == "repeat_run" else self._length())]

    def _replace(self, operation: str, words: list[str], at: int) -> None:
        agreeing = [i for i, word in enumerate(words) if word.lower() in _AGREEMENT]
        if operation == "insert":
            words.insert(at, self._rng.choice(self._frequent))
        elif operation == "replace":
            words[at] = self._rng.choice(self._known)
        elif operation == "replace_small":
            words[at] = self._rng.choice(self._frequent)
        elif operation == "splice":
            other = self._rng.choice(self._sentences).raw
            words[max(1, at) :] = other[self._rng.randrange(1, len(other)) :]
        elif agreeing:
            at = self._rng.choice(agreeing)
            words[at] = _AGREEMENT[words[at].lower()]

    def _length(self) -> int:
        return self._rng.choice((1, 1, 2, 3))
