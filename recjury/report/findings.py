"""What a report needs from a campaign, read one conversation at a time; no log stays in memory."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from recjury.records import Ending, Need, Status
from recjury.report.example_picks import ExamplePicker
from recjury.report.excerpt import one_line
from recjury.report.rounds import RoundTally
from recjury.results import CampaignSummary, Measure, Tally, is_newest
from recjury.results.scores import ConversationScores
from recjury.results.unscored import unscored_ratings
from recjury.store import CampaignEvaluator, ConversationResult, Store

_REASON = 300  # characters of a reason; reasons that agree in them are counted together


class MissingResult(NamedTuple):
    """What did not finish or has no score, and why."""

    what: str
    why: str


ReasonCounts = dict[MissingResult, Counter[str]]
"""How often each result is missing, by system."""


class Debaters(NamedTuple):
    """The debates of a system under one evaluator."""

    system: str
    evaluator: str


@dataclass
class Scenarios:
    """The ids of the scenarios of one corpus; `conversation` is the first that has a log."""

    planned: set[str] = field(default_factory=set)
    played: set[str] = field(default_factory=set)
    target_seen: set[str] = field(default_factory=set)
    without_target: set[str] = field(default_factory=set)
    conversation: str | None = None


@dataclass
class CampaignFindings:
    """Everything that is counted; systems and corpora are in the order of their first conversation.

    `corpora` has the scores by corpus, if there are several. `raters` and `debaters` are by
    evaluator's label. The counters of `failures` and `unscored` are
    by system.
    """

    summary: CampaignSummary
    corpora: dict[str, dict[str, Tally]] = field(default_factory=dict)
    rankings: dict[str, ExamplePicker] = field(default_factory=dict)
    rounds: dict[Debaters, RoundTally] = field(default_factory=lambda: defaultdict(RoundTally))
    scenarios: dict[str, Scenarios] = field(default_factory=lambda: defaultdict(Scenarios))
    failures: ReasonCounts = field(default_factory=lambda: defaultdict(Counter))
    unfinished: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    unscored: ReasonCounts = field(default_factory=lambda: defaultdict(Counter))
    endings: Counter[Ending] = field(default_factory=Counter)
    raters: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    debaters: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    users: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Which evaluators' debates count."""
        self._newest = frozenset(each.label for each in self.evaluators)
        self._measures = {each.id: each for each in self.measures}
        self._about_targets = {m.id for m in self.measures if Need.TARGETS in m.metric.needs}

    @property
    def systems(self) -> dict[str, Tally]:
        """The scores of each system."""
        return self.summary.systems

    @property
    def evaluators(self) -> tuple[CampaignEvaluator, ...]:
        """The newest version of every evaluator."""
        return tuple(filter(is_newest, self.summary.evaluators))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The metrics of these versions, except details."""
        return self.summary.shown

    def add(self, result: ConversationResult) -> None:
        """Count one conversation and its evaluations."""
        scores = self.summary.add(result)
        if result.corpus in self.corpora:
            tallies = self.corpora[result.corpus]
            if result.system not in tallies:
                tallies[result.system] = Tally(self.summary.of_lists)
            tallies[result.system].add(scores)
        self._add_scenario(result, scores)
        if result.system not in self.rankings:
            self.rankings[result.system] = ExamplePicker(self.measures)
        ranking = self.rankings[result.system]
        if result.ending is not None:
            self.endings[result.ending] += 1
            ranking.add(scores)
        if result.failure is not None:
            self.unfinished[result.system].append(result.conversation)
            self._count(self.failures, result.system, "conversation", result.failure)
        for evaluation in result.evaluations:
            for stage, reason in evaluation.failures.items():
                self._count(self.failures, result.system, f"{evaluation.label}: {stage}", reason)
            layout, _, said = evaluation.scores
            self.raters[evaluation.label] |= layout.raters
            if said and evaluation.label in self._newest:
                self.rounds[Debaters(result.system, evaluation.label)].add(layout.said, said)
                self.debaters[evaluation.label] |= layout.speakers
        for each in unscored_ratings(result, self._measures):
            self._count(self.unscored, result.system, f"{each.evaluator}: {each.metric}", each.why)

    def _add_scenario(self, result: ConversationResult, scores: ConversationScores) -> None:
        scenarios = self.scenarios[result.corpus]
        scenarios.planned.add(result.scenario)
        if result.log is None:
            return
        scenarios.played.add(result.scenario)
        scenarios.conversation = scenarios.conversation or result.conversation
        if result.target_seen:
            scenarios.target_seen.add(result.scenario)
        targets, form = self._about_targets, scores.form
        statuses = {form.missing[m].status for m in targets if m in form.missing}
        if statuses == {Status.NOT_APPLICABLE} and not form.means.keys() & targets:
            scenarios.without_target.add(result.scenario)

    @staticmethod
    def _count(counts: ReasonCounts, system: str, what: str, why: str) -> None:
        counts[MissingResult(one_line(what, _REASON), one_line(why, _REASON))][system] += 1


def collect_findings(
    store: Store, campaign: str, conversations: Sequence[str] | None = None
) -> CampaignFindings:
    """Read the scores of conversations of a campaign, by default of all."""
    found = CampaignFindings(CampaignSummary(store.evaluators(campaign)))
    found.users, corpora = store.users(campaign), store.corpora(campaign)
    for result in store.results(campaign, conversations=conversations, whole=False):
        if len(corpora) > 1:
            found.corpora.setdefault(result.corpus, {})
        found.add(result)
    return found
