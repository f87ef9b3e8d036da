"""The scores of one conversation: a value of each metric, or the reason why there is none."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from recjury.records import MEAN, Metric, Need, Rating, Status, counted, mean_score, metric_id
from recjury.results.losses import Losses
from recjury.store import CampaignEvaluator, ConversationResult

_WIDEST = 100


class Measure(NamedTuple):
    """A metric of a campaign; `id` is the metric's id after its evaluator's label and a dot."""

    id: str
    evaluator: str
    metric: Metric

    @property
    def name(self) -> str:
        """The id, followed by the title where the id does not say it."""
        return named(self.id, self.metric)


class Missing(NamedTuple):
    """The reason why a metric has no value."""

    status: Status
    reason: str


class RatedBy(NamedTuple):
    """A measure and one of its raters."""

    measure: str
    rater: str


class ConversationScores(NamedTuple):
    """One conversation's scores by measure: `values`, and the reasons of `missing` ones.

    `pair` is the key by which conversations of two systems are paired; `failed` is True if the
    conversation itself did not finish. `has_list` says whether the system listed any item. `given`
    has each rater's own scores by measure and rater, `losses` the ratings that were lost.
    """

    conversation: str
    system: str
    corpus: str
    pair: str
    failed: bool
    values: Mapping[str, float]
    missing: Mapping[str, Missing]
    has_list: bool = True
    given: Mapping[RatedBy, Sequence[float]] = MappingProxyType({})
    losses: Mapping[str, Losses] = MappingProxyType({})


def named(measure: str, metric: Metric) -> str:
    """A measure's id, followed by the metric's title where the id does not say it."""
    return measure if metric_id(metric.title) == metric.id else f"{measure} ({metric.title})"


def titles_of(metrics: Mapping[str, Metric]) -> dict[str, str]:
    """The title of each measure, with its evaluator where several have the same title."""
    times = Counter(each.title for each in metrics.values())
    return {
        measure: each.title + f" of {measure.partition('.')[0]}" * (times[each.title] > 1)
        for measure, each in metrics.items()
    }


def sums_up(metric: Metric) -> bool:
    """Whether a metric sums up a conversation: it goes from 0 to 100, as verdicts do."""
    return metric.high == _WIDEST


def headline(measures: Iterable[Measure]) -> Measure | None:
    """The first measure that sums up a conversation, otherwise the first one; no detail."""
    shown = (each for each in measures if not each.metric.detail)
    return min(shown, key=lambda each: not sums_up(each.metric), default=None)


def measures_of(evaluators: Iterable[CampaignEvaluator]) -> tuple[Measure, ...]:
    """All metrics of `evaluators`, in their order."""
    return tuple(
        Measure(f"{each.label}.{metric.id}", each.label, metric)
        for each in evaluators
        for metric in each.metrics
    )


def of_lists(measures: Iterable[Measure]) -> frozenset[str]:
    """The ids of the measures that need a recommendation list."""
    return frozenset(each.id for each in measures if Need.LIST in each.metric.needs)


def is_newest(evaluator: CampaignEvaluator) -> bool:
    """Whether it is the newest version of its name."""
    return evaluator.label == evaluator.name


def scores_of(result: ConversationResult) -> ConversationScores:
    """The scores of a conversation: means over turns, over judges, and over judgings."""
    rated: dict[str, list[list[Rating]]] = {}
    given: dict[RatedBy, list[float]] = {}
    for evaluation in result.evaluations:
        own: dict[str, list[Rating]] = {}
        for rating in evaluation.ratings:
            measure = _measure(evaluation.label, rating.factor)
            own.setdefault(measure, []).append(rating)
            if rating.score is not None and rating.evaluator != MEAN:
                given.setdefault(RatedBy(measure, rating.evaluator), []).append(rating.score)
        for measure, ratings in own.items():
            rated.setdefault(measure, []).append(counted(ratings))
    values: dict[str, float] = {}
    missing: dict[str, Missing] = {}
    losses: dict[str, Losses] = {}
    for measure, judgings in rated.items():
        if len(judgings) == 1 and len(judgings[0]) == 1:  # nearly all, so it must be fast
            value = judgings[0][0].score
            if value is not None:
                values[measure], losses[measure] = value, Losses(1, 0, value, value)
                continue
        scored = [value for each in judgings if (value := mean_score(each)) is not None]
        losses[measure] = Losses.among(judgings)
        if scored:
            values[measure] = fmean(scored)
        else:
            missing[measure] = _missing([rating for each in judgings for rating in each])
    return ConversationScores(
        conversation=result.conversation,
        system=result.system,
        corpus=result.corpus,
        pair=result.pair or result.scenario,
        failed=result.failure is not None,
        values=values,
        missing=missing,
        has_list=result.has_list,
        given=given,
        losses=losses,
    )


@cache
def _measure(label: str, factor: str) -> str:
    return f"{label}.{metric_id(factor)}"


def _missing(ratings: Sequence[Rating]) -> Missing:
    """The reason why the ratings have no score: NOT_APPLICABLE only if all of them are."""
    applicable = (each for each in ratings if each.status is not Status.NOT_APPLICABLE)
    first = next(applicable, ratings[0])
    return Missing(first.status, first.reason)
