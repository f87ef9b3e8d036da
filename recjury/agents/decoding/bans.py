"""Bans on n-grams that would come twice."""

from collections.abc import Sequence


class NgramBans:
    """Which tokens would repeat an n-gram of a row's sequence, or bring one of its source."""

    def __init__(
        self, history: Sequence[int], source: Sequence[int], *, ngram: int, source_ngram: int
    ):
        """`history` is the sequence so far, prefix included; `source` the encoder's input.

        `ngram` and `source_ngram` are the lengths of what must not come again from either; 0
        bans nothing.
        """
        self._own = _Ngrams(ngram, history)
        self._foreign = _Ngrams(source_ngram, source)
        self.sequence = list(history)

    def push(self, token: int) -> None:
        """Add a generated token."""
        self.sequence.append(token)
        self._own.add(self.sequence)

    def banned(self) -> set[int]:
        """The tokens that must not come next."""
        return self._own.after(self.sequence) | self._foreign.after(self.sequence)


class _Ngrams:
    """The n-grams of a sequence, found by their first n - 1 tokens."""

    def __init__(self, length: int, sequence: Sequence[int]):
        self._length = length
        self._after: dict[tuple[int, ...], set[int]] = {}
        for end in range(length, len(sequence) + 1) if length else ():
            self.add(sequence[end - length : end])

    def add(self, sequence: Sequence[int]) -> None:
        """Take up the last n-gram of a sequence."""
        if self._length and len(sequence) >= self._length:
            *before, last = sequence[-self._length :]
            self._after.setdefault(tuple(before), set()).add(last)

    def after(self, sequence: Sequence[int]) -> set[int]:
        """What followed the last n - 1 tokens of a sequence."""
        if not self._length or len(sequence) < self._length - 1:
            return set()
        return self._after.get(tuple(sequence[len(sequence) - self._length + 1 :]), set())
