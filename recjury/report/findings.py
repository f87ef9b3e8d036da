"""What one walk over a store's trials gathers for a report; no log stays in memory."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from recjury.records import PERSUASIVENESS, DebateTranscript, Ending, Factor, Rating, Status
from recjury.report.comparison import Sample
from recjury.report.excerpt import one_line
from recjury.report.headline import headline
from recjury.report.ranking import Ranking
from recjury.report.rounds import RoundTally
from recjury.report.scores import OVERALL, TrialScores, scores_of
from recjury.report.summary import SystemTally
from recjury.store import Store, TrialOutcome

_REASON = 300  # characters of a reason; what agrees in them is counted together


class Unscored(NamedTuple):
    """A factor or verdict without a score, and why."""

    factor: str
    status: Status
    reason: str


class Failed(NamedTuple):
    """A stage that did not come to its end, and why."""

    stage: str
    reason: str


@dataclass
class Scenarios:
    """The ids of the scenarios of one corpus; `of_trial` is the first trial that has a log."""

    planned: set[str] = field(default_factory=set)
    played: set[str] = field(default_factory=set)
    target_seen: set[str] = field(default_factory=set)
    without_target: set[str] = field(default_factory=set)
    of_trial: str | None = None


@dataclass
class Findings:
    """Everything that is counted; systems and corpora stand in the order of their first trial.

    The counters of `failures` and `unscored` are by system.
    """

    systems: dict[str, SystemTally] = field(default_factory=dict)
    corpora: dict[str, dict[str, SystemTally]] = field(default_factory=dict)
    samples: dict[str, Sample] = field(default_factory=dict)
    rankings: dict[str, Ranking] = field(default_factory=dict)
    rounds: dict[str, RoundTally] = field(default_factory=dict)
    scenarios: dict[str, Scenarios] = field(default_factory=dict)
    failures: dict[Failed, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    unfinished: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    unscored: dict[Unscored, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    endings: Counter[Ending] = field(default_factory=Counter)
    users: set[str] = field(default_factory=set)
    judges: set[str] = field(default_factory=set)
    debaters: set[str] = field(default_factory=set)

    def add(self, outcome: TrialOutcome, transcript: DebateTranscript | None) -> None:
        """Count one trial, and its debate where it has one."""
        speakers = {said.speaker for said in transcript.statements} if transcript else set()
        scores = scores_of(outcome)
        self._add_scores(scores._replace(raters=scores.raters | speakers))
        self._add_scenario(outcome)
        if outcome.ending is not None:
            self.endings[outcome.ending] += 1
            self.rankings[outcome.system].add(scores)
        if transcript is not None:
            self.rounds.setdefault(outcome.system, RoundTally()).add(transcript)
            self.debaters |= speakers
        if outcome.log is None and "converse" in outcome.failures:
            self.unfinished[outcome.system].append(outcome.trial)
        for stage, reason in outcome.failures.items():
            self.failures[Failed(stage, one_line(reason, _REASON))][outcome.system] += 1
        self._add_ratings(outcome)

    def _add_scores(self, scores: TrialScores) -> None:
        self.systems.setdefault(scores.system, SystemTally()).add(scores)
        tallies = self.corpora.setdefault(scores.corpus, {})
        tallies.setdefault(scores.system, SystemTally()).add(scores)
        self.samples.setdefault(scores.system, Sample()).add(scores)
        self.rankings.setdefault(scores.system, Ranking())

    def _add_scenario(self, outcome: TrialOutcome) -> None:
        scenarios = self.scenarios.setdefault(outcome.corpus, Scenarios())
        scenarios.planned.add(outcome.scenario)
        if outcome.log is None:
            return
        scenarios.played.add(outcome.scenario)
        scenarios.of_trial = scenarios.of_trial or outcome.trial
        if outcome.target_seen:
            scenarios.target_seen.add(outcome.scenario)
        if all(share is None for share in outcome.recall.values()):
            scenarios.without_target.add(outcome.scenario)

    def _add_ratings(self, outcome: TrialOutcome) -> None:
        for rating in headline(outcome.ratings).values():
            if rating.score is None:
                self._add_unscored(outcome.system, rating)
        twelve = {factor.value for factor in Factor}
        self.judges |= {rating.evaluator for rating in outcome.ratings if rating.factor in twelve}
        if outcome.ending is not Ending.RECORDED:
            asked = (rating for rating in outcome.ratings if rating.factor == PERSUASIVENESS)
            self.users |= {rating.evaluator for rating in asked}
        verdict = outcome.verdict
        if verdict is not None and verdict.score is None:
            why = Unscored(OVERALL, verdict.status, one_line(verdict.reason, _REASON))
            self.unscored[why][outcome.system] += 1

    def _add_unscored(self, system: str, rating: Rating) -> None:
        why = Unscored(rating.factor, rating.status, one_line(rating.reason, _REASON))
        self.unscored[why][system] += 1


def walk(store: Store, campaign: str) -> Findings:
    """One walk over the trials of a campaign, in the plan's order."""
    found = Findings()
    for outcome in store.outcomes(campaign):
        debate = store.debate(outcome.trial) if outcome.verdict is not None else None
        found.add(outcome, debate.transcript if debate else None)
    return found
