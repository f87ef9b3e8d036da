"""What a campaign found: one row per system, every mean with its coverage."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recjury.records import JSON, PERSUASIVENESS
from recjury.report.scores import (
    FACTORS,
    OVERALL,
    ROUNDS,
    TrialScores,
    last_recall,
    new_recall,
    recall,
    scores_of,
)
from recjury.stats import Summary
from recjury.store import RECALL_AT, TrialOutcome


class SystemSummary(NamedTuple):
    """One system's row. Means are over its scored trials; a failed one lowers the coverage.

    `overall` is 0-100, `factors` 0-4, `persuasiveness` 0-2; `recall[k]` the share of trials with
    a target among the first k of the session list, `last_recall[k]` of the last turn's list,
    `new_recall[k]` of the session list where the history does not name a target already.
    `leaks_caught` and `leaks_through` are counted in utterances, `rounds` the mean number of
    system turns. `raters` says who rated and debated.
    """

    trials: int
    failed: int
    overall: Summary
    factors: dict[str, Summary]
    recall: dict[int, Summary]
    last_recall: dict[int, Summary]
    new_recall: dict[int, Summary]
    persuasiveness: Summary
    rounds: Summary
    leaks_caught: int
    leaks_through: int
    raters: tuple[str, ...]

    def as_json(self) -> dict[str, JSON]:
        """The stable keys of `--json`, and a few more."""
        return {
            "overall": _mean_and_coverage(self.overall),
            "factors": {name: _mean_and_coverage(s) for name, s in self.factors.items()},
            "recall": {str(k): s.mean for k, s in self.recall.items()},
            "persuasiveness": _mean_and_coverage(self.persuasiveness),
            "last_turn_recall": {str(k): s.mean for k, s in self.last_recall.items()},
            "new_target_recall": {str(k): s.mean for k, s in self.new_recall.items()},
            # Beside and not inside: scripts read `recall` as numbers by k. All k have the same.
            "recall_coverage": _count_and_coverage(self.recall[RECALL_AT[0]]),
            "new_target_recall_coverage": _count_and_coverage(self.new_recall[RECALL_AT[0]]),
            "rounds": self.rounds.mean,
            "trials": self.trials,
            "failed": self.failed,
            "leaks": {"caught": self.leaks_caught, "through": self.leaks_through},
            "raters": list(self.raters),
        }


class SystemTally:
    """Adds up one system's trials, one at a time: memory does not grow with their number."""

    def __init__(self) -> None:
        """Nothing counted yet."""
        self._trials = 0
        self._failed = 0
        self._sums: dict[str, float] = defaultdict(float)
        self._scored: Counter[str] = Counter()
        self._leaks_caught = 0
        self._leaks_through = 0
        self._raters: set[str] = set()

    def add(self, scores: TrialScores) -> None:
        """Count one trial."""
        self._trials += 1
        self._failed += scores.failed
        self._leaks_caught += scores.leaks_caught
        self._leaks_through += scores.leaks_through
        self._raters |= scores.raters
        for name, value in scores.measures.items():
            if value is not None:
                self._sums[name] += value
                self._scored[name] += 1

    def summary(self) -> SystemSummary:
        """The row so far."""
        return SystemSummary(
            trials=self._trials,
            failed=self._failed,
            overall=self._of(OVERALL),
            factors={factor: self._of(factor) for factor in FACTORS},
            recall={k: self._of(recall(k)) for k in RECALL_AT},
            last_recall={k: self._of(last_recall(k)) for k in RECALL_AT},
            new_recall={k: self._of(new_recall(k)) for k in RECALL_AT},
            persuasiveness=self._of(PERSUASIVENESS),
            rounds=self._of(ROUNDS),
            leaks_caught=self._leaks_caught,
            leaks_through=self._leaks_through,
            raters=tuple(sorted(self._raters)),
        )

    def _of(self, name: str) -> Summary:
        count = self._scored[name]
        mean = self._sums[name] / count if count else None
        return Summary(mean, count / self._trials if self._trials else 0.0, self._trials)


def summarise_systems(outcomes: Iterable[TrialOutcome]) -> dict[str, SystemSummary]:
    """A summary per system, in the order in which the systems first appear."""
    tallies: dict[str, SystemTally] = {}
    for outcome in outcomes:
        tallies.setdefault(outcome.system, SystemTally()).add(scores_of(outcome))
    return summaries(tallies)


def summarise_by_corpus(outcomes: Iterable[TrialOutcome]) -> dict[str, dict[str, SystemSummary]]:
    """As `summarise_systems`, for each corpus apart, in the order in which they first appear."""
    corpora: dict[str, dict[str, SystemTally]] = {}
    for outcome in outcomes:
        tallies = corpora.setdefault(outcome.corpus, {})
        tallies.setdefault(outcome.system, SystemTally()).add(scores_of(outcome))
    return {corpus: summaries(tallies) for corpus, tallies in corpora.items()}


def summaries(tallies: Mapping[str, SystemTally]) -> dict[str, SystemSummary]:
    """The rows of several tallies."""
    return {system: tally.summary() for system, tally in tallies.items()}


def _mean_and_coverage(summary: Summary) -> dict[str, JSON]:
    return {"mean": summary.mean, "coverage": summary.coverage}


def _count_and_coverage(summary: Summary) -> dict[str, JSON]:
    return {"n": summary.scored, "coverage": summary.coverage}
