"""How debates went, round by round, over all of a system's conversations."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from recjury.records import Role
from recjury.store import SpokenAs


class RoundMeans(NamedTuple):
    """`scores[role][r - 1]` is the mean score of a role after round r, None if it gave none.

    A debate that has ended keeps its last scores in later rounds; `debating[r - 1]` counts the
    debates that reached round r.
    """

    scores: dict[Role, tuple[float | None, ...]]
    debating: tuple[int, ...]


class RoundTally:
    """Adds up one system's debates, one at a time."""

    def __init__(self) -> None:
        """Nothing has been counted yet."""
        self._lengths: Counter[int] = Counter()
        # Scores per role and round; last scores per role and number of rounds of the debate.
        self._given: dict[tuple[Role, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._final: dict[tuple[Role, int], list[float]] = defaultdict(lambda: [0.0, 0.0])

    def add(self, said: Sequence[SpokenAs], scores: Sequence[float | None]) -> None:
        """Count one debate by who spoke, and the scores; a debate without any is left out."""
        rounds = max((each.round for each in said), default=0)
        if not rounds:
            return
        self._lengths[rounds] += 1
        for (role, number, _), score in zip(said, scores, strict=True):
            if score is not None:
                _put(self._given[role, number], score)
                if number == rounds:
                    _put(self._final[role, rounds], score)

    def means(self) -> RoundMeans | None:
        """The means so far; None if there is no debate."""
        if not self._lengths:
            return None
        rounds = range(1, max(self._lengths) + 1)
        return RoundMeans(
            {role: tuple(self._mean(role, number) for number in rounds) for role in Role},
            tuple(sum(n for length, n in self._lengths.items() if length >= r) for r in rounds),
        )

    def _mean(self, role: Role, number: int) -> float | None:
        total, count = self._given.get((role, number), (0.0, 0.0))
        for length in self._lengths:
            if length < number:
                ended, how_many = self._final.get((role, length), (0.0, 0.0))
                total, count = total + ended, count + how_many
        return total / count if count else None


def _put(sums: list[float], score: float) -> None:
    sums[0] += score
    sums[1] += 1
