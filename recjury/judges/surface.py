"""Scorers that count words: length, the constant, and distinct n-grams. They are yardsticks."""

import re
from collections.abc import Sequence

from recjury.records import Response

_WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """The words and punctuation marks of a text, in lower case."""
    return _WORD.findall(text.lower())


class LengthScorer:
    """The number of words and punctuation marks of a reply."""

    name = "length"

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """A number for every reply; 0 for an empty one."""
        return [float(len(words(each.text))) for each in responses]


class ConstantScorer:
    """1 for every reply: its correlations are undefined, and it wins no pair."""

    name = "constant"

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """1 for every reply."""
        return [1.0] * len(responses)


class DistinctScorer:
    """Distinct-n (Li et al. 2016) of single replies: different n-grams by all n-grams, 0 to 1."""

    def __init__(self, n: int):
        """`n` words make an n-gram."""
        self.name = f"distinct-{n}"
        self._n = n

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """None for a reply of fewer than n words."""
        return [self._score(words(each.text)) for each in responses]

    def _score(self, tokens: Sequence[str]) -> float | None:
        grams = list(zip(*(tokens[start:] for start in range(self._n)), strict=False))
        return len(set(grams)) / len(grams) if grams else None
