"""Which of a system's conversations are shown: the best, the worst, and those between."""

from typing import NamedTuple

from recjury.report.scores import FACTORS, OVERALL, TrialScores


class Choice(NamedTuple):
    """A trial to show, and what it stands for ("median of 40")."""

    trial: str
    stands_for: str


class Ranking:
    """A system's trials by score: by the verdict, or by the mean factor where none has one."""

    def __init__(self) -> None:
        """No trial yet."""
        self._by_verdict: list[tuple[float, str]] = []
        self._by_factors: list[tuple[float, str]] = []
        self._unscored: list[tuple[float, str]] = []

    def add(self, trial: TrialScores) -> None:
        """Rank one more trial."""
        verdict = trial.measures.get(OVERALL)
        given = [score for name in FACTORS if (score := trial.measures.get(name)) is not None]
        if verdict is not None:
            self._by_verdict.append((verdict, trial.trial))
        elif given:
            self._by_factors.append((sum(given) / len(given), trial.trial))
        else:
            self._unscored.append((0.0, trial.trial))

    def choose(self, count: int) -> tuple[Choice, ...]:
        """At most `count` different trials, evenly spread from the best to the worst.

        One is the median, three are the best, the median and the worst.
        """
        ranked = sorted(self._by_verdict or self._by_factors or self._unscored, reverse=True)
        count = min(count, len(ranked))
        if count == 0:
            return ()
        last = len(ranked) - 1
        shares = [0.5] if count == 1 else [place / (count - 1) for place in range(count)]
        return tuple(
            Choice(ranked[round(share * last)][1], self._stands_for(share, len(ranked)))
            for share in shares
        )

    def _stands_for(self, share: float, of: int) -> str:
        if not self._by_verdict and not self._by_factors:
            return f"one of {of}, none of them scored"
        by = "verdict" if self._by_verdict else "mean factor"
        names = {0.0: "best", 0.5: "median", 1.0: "worst"}
        place = names.get(share, f"{round(100 * (1 - share))}th percentile")
        return f"{place} of {of} by {by}" if of > 1 else "the only one"
