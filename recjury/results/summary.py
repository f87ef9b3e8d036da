"""A campaign's results: every system's means with their intervals and coverage."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.records import JSON, Ending, Status
from recjury.results.losses import FAILED, Losses, WorstCase, worst_case
from recjury.results.noise import Judgings, NoiseFloor, noise_of
from recjury.results.scores import (
    ConversationScores,
    RatedBy,
    is_newest,
    measures_of,
    of_lists,
    scores_of,
)
from recjury.results.unscored import (
    DEBATE,
    Unscored,
    Verdicts,
    count_verdicts,
    unscored_ratings,
)
from recjury.stats.resampling import Interval, interval_of_mean, intervals_of_means
from recjury.store import (
    CampaignCounts,
    CampaignEvaluator,
    ConversationResult,
    Counts,
    PlannedConversation,
    Store,
)

_INAPPLICABLE = {Status.NOT_APPLICABLE}


class ActCounts(NamedTuple):
    """Declared acts that could not be used, and those that surely differ from the words."""

    dropped: int = 0
    differing: int = 0


class MetricSummary(NamedTuple):
    """A system's mean over the scenarios with a score; repeats of a scenario are averaged first.

    The interval of the mean and `compare_systems` use the same means of scenarios: if two systems
    have a score of the same scenarios, the difference of their means is the difference that is
    compared. `n` counts the conversations that have a score. `coverage` (0 to 1) is their share of
    all the system's conversations; None if the metric applies to none of them.
    """

    mean: float | None
    n: int
    coverage: float | None


class Tally:
    """Adds up one system's conversations, one at a time.

    `of_lists` are the ids of measures that need a recommendation list. A conversation without a
    list has a score of them (its Recall is 0) only if the system lists items in another one: a
    system that never lists was not measured by its lists.
    """

    def __init__(self, of_lists: Container[str] = ()) -> None:
        """Nothing has been counted yet."""
        self.conversations = 0
        self.failed = 0
        self.has_lists = False
        self.given: dict[RatedBy, Counter[float]] = defaultdict(Counter)
        self._of_lists = of_lists
        self._values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._missing: dict[str, set[Status]] = defaultdict(set)
        self._losses: dict[str, dict[str, list[Losses]]] = defaultdict(lambda: defaultdict(list))

    def add(self, scores: ConversationScores) -> None:
        """Count one conversation."""
        self.conversations += 1
        self.failed += scores.failed
        self.has_lists |= scores.has_list
        for measure, value in scores.values.items():
            self._values[measure][scores.pair].append(value)
        for measure, missing in scores.missing.items():
            self._missing[measure].add(missing.status)
        for measure, losses in scores.losses.items():
            self._losses[measure][scores.pair].append(losses)
        for rated, values in scores.given.items():
            self.given[rated].update(values)

    @property
    def repeats(self) -> dict[str, list[list[float]]]:
        """By measure, the scores of each scenario."""
        scored = {measure: list(self._scored(measure).values()) for measure in self._values}
        return {measure: scenarios for measure, scenarios in scored.items() if scenarios}

    @property
    def measured(self) -> frozenset[str]:
        """The ids of the measures that have any score."""
        return frozenset(filter(self._scored, self._values))

    @property
    def pairs(self) -> frozenset[str]:
        """The scenarios that have any score, as they are paired."""
        return frozenset(pair for by_pair in self._values.values() for pair in by_pair)

    def by_pair(self, measure: str) -> dict[str, float]:
        """Scores by scenario (pair): the mean over its repeats.

        Repeats are not counted as further scenarios: intervals and p-values would be too small.
        """
        return {pair: fmean(values) for pair, values in self._scored(measure).items()}

    def floor(self, measure: str, noise: NoiseFloor) -> float | None:
        """How far the mean of a second run may differ (95 %); None without any score."""
        scored = self._scored(measure).values()
        return noise.floor(len(scored), sum(map(len, scored)) / len(scored)) if scored else None

    def interval(self, measure: str) -> Interval | None:
        """The 95 % interval of the same mean; None for fewer than two scenarios."""
        return interval_of_mean(list(self.by_pair(measure).values()))

    def summary(self, measure: str) -> MetricSummary:
        """A measure's mean over scenarios so far."""
        scored = self._scored(measure)
        if not scored:
            nowhere = self._values.get(measure) or self._missing.get(measure) == _INAPPLICABLE
            return MetricSummary(None, 0, None if nowhere else 0.0)
        n = sum(map(len, scored.values()))
        return MetricSummary(fmean(map(fmean, scored.values())), n, n / self.conversations)

    def worst_case(self, measure: str) -> WorstCase | None:
        """The share of lost ratings, and the bounds of the mean; None for at most 1 %."""
        return worst_case(self._losses[measure].values()) if measure in self._losses else None

    def _scored(self, measure: str) -> Mapping[str, list[float]]:
        """The scores that count, by scenario."""
        if measure in self._of_lists and not self.has_lists:
            return {}
        return self._values.get(measure, {})

    def as_json(self, measures: Sequence[str]) -> dict[str, dict[str, float | None]]:
        """Each measure's mean over scenarios, its interval, `n` and its coverage.

        If more than 1 % of its ratings were lost, `lost` is their share, and `worst_low` and
        `worst_high` are the bounds of the mean with them.
        """
        found: dict[str, dict[str, float | None]] = {}
        intervals = intervals_of_means([list(self.by_pair(each).values()) for each in measures])
        for measure, interval in zip(measures, intervals, strict=True):
            mean, n, coverage = self.summary(measure)
            low, high = interval or (None, None)
            found[measure] = {"mean": mean, "low": low, "high": high, "n": n, "coverage": coverage}
            if (worst := self.worst_case(measure)) is not None:
                ends = {"worst_low": worst.low, "worst_high": worst.high}
                found[measure] |= {"lost": worst.share, **ends}
        return found


class CampaignSummary:
    """Adds up a campaign's conversations and evaluations, one conversation at a time.

    `failures` counts what failed by reason, `raters` has the raters by evaluator. `unscored` counts
    the ratings without a score of the newest evaluators, except those of details; `verdicts` has
    the numbers of the newest evaluators that debate, by label. `items_linked` counts the
    conversations whose lists were made of the names in the texts; `played` has the corpora, with
    their splits, of conversations that were not recorded; `acts` is set by who reads the logs.
    `shown` are the measures of the newest evaluators without details, `of_lists` the ids of all
    that need a list.
    """

    def __init__(self, evaluators: Sequence[CampaignEvaluator]) -> None:
        """Nothing has been counted yet."""
        self.evaluators = tuple(evaluators)
        self.measures = measures_of(evaluators)
        self.systems: dict[str, Tally] = {}
        self._judgings = Judgings()
        self.conversations = Counts()
        self.items_linked = 0
        self.played: set[str] = set()
        self.acts = ActCounts()
        self.evaluations = {each.label: Counts() for each in evaluators}
        self.failures: Counter[str] = Counter()
        self.raters: dict[str, set[str]] = {each.label: set() for each in evaluators}
        self.unscored: Counter[Unscored] = Counter()
        self.verdicts: dict[str, Verdicts] = {
            each.label: Verdicts() for each in self.evaluators if _debates(each)
        }
        newest = measures_of(filter(is_newest, evaluators))
        self.shown = tuple(each for each in newest if not each.metric.detail)
        self.of_lists = of_lists(self.measures)

    def add(self, result: ConversationResult) -> ConversationScores:
        """Count one conversation, and return its scores."""
        scores = scores_of(result)
        self.systems.setdefault(result.system, Tally(self.of_lists)).add(scores)
        self._judgings.add(result)
        held, failed = result.log is not None, result.failure is not None
        self.conversations = self.conversations.plus(1, done=held, failed=failed)
        self.items_linked += result.items_linked
        if result.ending not in (None, Ending.RECORDED):
            self.played.add(result.corpus)
        if result.failure is not None:
            self.failures[f"converse: {result.failure}"] += 1
        self.unscored.update(unscored_ratings(result, self.shown))
        for evaluator in self.evaluators:
            self._count(evaluator, result)
            if evaluator.label in self.verdicts:
                before = self.verdicts[evaluator.label]
                self.verdicts[evaluator.label] = count_verdicts(before, result, evaluator)
        return scores

    def _count(self, evaluator: CampaignEvaluator, result: ConversationResult) -> None:
        begun = [each for each in result.evaluations if each.label == evaluator.label]
        self.raters[evaluator.label] |= {r.evaluator for each in begun for r in each.ratings}
        finished = [set(evaluator.stages) <= each.stages for each in begun]
        failed = [each for each, done in zip(begun, finished, strict=True) if not done]
        failed = [each for each in failed if each.failures]
        for each in failed:
            self.failures.update(f"{each.label} {s}: {why}" for s, why in each.failures.items())
        # Nothing more is planned for an older version.
        planned = evaluator.judgings if is_newest(evaluator) else sum(finished) + len(failed)
        counts = self.evaluations[evaluator.label]
        self.evaluations[evaluator.label] = counts.plus(
            max(planned, len(begun)), done=sum(finished), failed=len(failed)
        )

    @property
    def counts(self) -> CampaignCounts:
        """How far the campaign is."""
        return CampaignCounts(self.conversations, self.evaluations)

    def noise(self) -> dict[str, NoiseFloor]:
        """The noise floors by measure; empty if nothing was repeated or judged again."""
        return noise_of([tally.repeats for tally in self.systems.values()], self._judgings)

    def noise_json(self) -> dict[str, dict[str, JSON]]:
        """The noise floors by measure, for `--json`; `floor` is that of the systems' means."""
        return {
            measure: {**each.as_json(), "floor": largest_floor(each, measure, self.systems)}
            for measure, each in self.noise().items()
        }

    def has_failures(self, evaluators: Container[str]) -> bool:
        """Whether anything failed, could not be read or was refused in what these evaluated.

        `evaluators` are labels. What is not measured or does not apply has not failed.
        """
        return (
            any(counts.failed for label, counts in self.evaluations.items() if label in evaluators)
            or any(each.status in FAILED for each in self.unscored if each.evaluator in evaluators)
            or any(each.failed for label, each in self.verdicts.items() if label in evaluators)
        )

    def unscored_json(self) -> list[dict[str, JSON]]:
        """The ratings without a score by evaluator, metric and reason, for `--json`."""
        return [
            {**each._asdict(), "status": each.status.value, "count": count}
            for each, count in self.unscored.most_common()
        ]

    def systems_json(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """The numbers of each system by measure, for `--json`."""
        measures = [measure.id for measure in self.measures]
        return {name: tally.as_json(measures) for name, tally in self.systems.items()}


def largest_floor(
    noise: NoiseFloor | None, measure: str, systems: Mapping[str, Tally]
) -> float | None:
    """How far the mean of any of the systems may differ in a second run (95 %)."""
    if noise is None:
        return None
    floors = (tally.floor(measure, noise) for tally in systems.values())
    return max((each for each in floors if each is not None), default=None)


def _debates(evaluator: CampaignEvaluator) -> bool:
    """Whether it is the newest version of an evaluator that should give a verdict."""
    return is_newest(evaluator) and DEBATE in evaluator.stages


def summarise(
    store: Store, campaign: str, *, conversations: Container[str] | None = None
) -> CampaignSummary:
    """The results of a campaign, or of the given conversations (row ids) of it."""
    summary = CampaignSummary(store.evaluators(campaign))
    planned = store.conversations(campaign)
    wanted = [each for each in planned if conversations is None or each.id in conversations]
    summary.acts = total_acts(store, wanted)
    for result in store.results(campaign):
        if conversations is None or result.conversation in conversations:
            summary.add(result)
    return summary


def act_counts(store: Store, planned: Iterable[PlannedConversation]) -> dict[str, ActCounts]:
    """By id, the counts of the conversations in which a model played the user and declared acts.

    Other logs have no counts and are not read.
    """
    found: dict[str, ActCounts] = {}
    for each in planned:
        user = each.settings.get("user")
        if isinstance(user, Mapping) and "declares" in user and (log := store.log(each.id)):
            found[each.id] = ActCounts(log.acts_dropped, log.acts_differing)
    return found


def total_acts(store: Store, planned: Iterable[PlannedConversation]) -> ActCounts:
    """The sums of `act_counts`."""
    counts = act_counts(store, planned).values()
    return ActCounts(sum(each.dropped for each in counts), sum(each.differing for each in counts))
