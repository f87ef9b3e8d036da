"""A campaign's results: every system's means with their intervals and coverage."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from recjury.records import FAILED, JSON, Ending
from recjury.results.noise import NoiseFloor, noise_of
from recjury.results.scores import (
    ConversationScores,
    is_newest,
    measures_of,
    of_lists,
    scores_of,
)
from recjury.results.tally import Tally
from recjury.results.unscored import (
    DEBATE,
    Unscored,
    Verdicts,
    count_verdicts,
    unscored_ratings,
)
from recjury.store import (
    CampaignCounts,
    CampaignEvaluator,
    ConversationResult,
    Counts,
    Store,
)


class ActCounts(NamedTuple):
    """Declared acts that could not be used, and those that surely differ from the words."""

    dropped: int = 0
    differing: int = 0


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
        self._by_id = {each.id: each for each in self.shown}
        self.of_lists = of_lists(self.measures)

    def add(self, result: ConversationResult) -> ConversationScores:
        """Count one conversation, and return its scores."""
        scores = scores_of(result)
        if result.acts is not None:
            self.acts = ActCounts(*map(sum, zip(self.acts, result.acts, strict=True)))
        if result.system not in self.systems:
            self.systems[result.system] = Tally(self.of_lists)
        self.systems[result.system].add(scores)
        held, failed = result.log is not None, result.failure is not None
        self.conversations = self.conversations.plus(1, held, failed)
        self.items_linked += result.items_linked
        if result.ending not in (None, Ending.RECORDED):
            self.played.add(result.corpus)
        if result.failure is not None:
            self.failures[f"converse: {result.failure}"] += 1
        self.unscored.update(unscored_ratings(result, self._by_id))
        for evaluator in self.evaluators:
            self._count(evaluator, result)
            if evaluator.label in self.verdicts:
                before = self.verdicts[evaluator.label]
                self.verdicts[evaluator.label] = count_verdicts(before, result, evaluator)
        return scores

    def _count(self, evaluator: CampaignEvaluator, result: ConversationResult) -> None:
        begun = [each for each in result.evaluations if each.label == evaluator.label]
        for each in begun:
            self.raters[evaluator.label] |= each.scores.layout.raters
        finished = [set(evaluator.stages) <= each.stages for each in begun]
        failed = [each for each, done in zip(begun, finished, strict=True) if not done]
        failed = [each for each in failed if each.failures]
        for each in failed:
            self.failures.update(f"{each.label} {s}: {why}" for s, why in each.failures.items())
        # Nothing more is planned for an older version.
        planned = evaluator.judgings if is_newest(evaluator) else sum(finished) + len(failed)
        counts = self.evaluations[evaluator.label]
        self.evaluations[evaluator.label] = counts.plus(
            max(planned, len(begun)), sum(finished), len(failed)
        )

    @property
    def counts(self) -> CampaignCounts:
        """How far the campaign is."""
        return CampaignCounts(self.conversations, self.evaluations)

    def noise(self) -> dict[str, NoiseFloor]:
        """The noise floors by measure; empty if nothing was repeated or judged again."""
        own = self.systems.values()
        return noise_of([each.repeats for each in own], [each.judgings for each in own])

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
    store: Store, campaign: str, *, conversations: Iterable[str] | None = None
) -> CampaignSummary:
    """The results of a campaign, or of the given conversations of it, by their ids."""
    summary = CampaignSummary(store.evaluators(campaign))
    for result in store.results(campaign, conversations=conversations, whole=False):
        summary.add(result)
    return summary
