"""How debates went, round by round, over all of a system's conversations."""

from collections import Counter, defaultdict
from typing import NamedTuple

from recjury.records import DebateTranscript, Role


class RoundMeans(NamedTuple):
    """`scores[role][r - 1]` is the mean score of a role after round r, None where none was given.

    A debate that has ended counts on with its last scores; `debating[r - 1]` counts those that
    held round r.
    """

    scores: dict[Role, tuple[float | None, ...]]
    debating: tuple[int, ...]


class RoundTally:
    """Adds up one system's debates, one at a time."""

    def __init__(self) -> None:
        """Nothing counted yet."""
        self._lengths: Counter[int] = Counter()
        # Per role and round, what was scored in it; per role and length, what debates ended on.
        self._given: dict[tuple[Role, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._final: dict[tuple[Role, int], list[float]] = defaultdict(lambda: [0.0, 0.0])

    def add(self, transcript: DebateTranscript) -> None:
        """Count one debate; one without a statement says nothing."""
        rounds = transcript.rounds
        if not rounds:
            return
        self._lengths[rounds] += 1
        for said in transcript.statements:
            if said.score is not None:
                _put(self._given[said.role, said.round], said.score)
                if said.round == rounds:
                    _put(self._final[said.role, rounds], said.score)

    def means(self) -> RoundMeans | None:
        """The means so far; None without any debate."""
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
