"""The scores of one conversation: a value of each metric, or the reason why there is none."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.records import Metric, Rating, Status, mean_score, shown_ratings
from recjury.store import CampaignEvaluator, ConversationResult


class Measure(NamedTuple):
    """A metric of a campaign; `id` is the metric's id after its evaluator's label and a dot."""

    id: str
    evaluator: str
    metric: Metric


class Missing(NamedTuple):
    """The reason why a metric has no value."""

    status: Status
    reason: str


class ConversationScores(NamedTuple):
    """One conversation's scores by measure: `values`, and the reasons of `missing` ones.

    `pair` is the key by which conversations of two systems are paired; `failed` is True if the
    conversation itself did not finish.
    """

    conversation: str
    system: str
    corpus: str
    pair: str
    failed: bool
    values: Mapping[str, float]
    missing: Mapping[str, Missing]


def measures_of(evaluators: Iterable[CampaignEvaluator]) -> tuple[Measure, ...]:
    """All metrics of `evaluators`, in their order."""
    return tuple(
        Measure(f"{each.label}.{metric.id}", each.label, metric)
        for each in evaluators
        for metric in each.metrics
    )


def is_newest(evaluator: CampaignEvaluator) -> bool:
    """Whether it is the newest version of its name."""
    return evaluator.label == evaluator.name


def scores_of(result: ConversationResult) -> ConversationScores:
    """The scores of a conversation: means over turns, over judges, and over judgings."""
    rated: dict[str, list[list[Rating]]] = {}
    for evaluation in result.evaluations:
        for metric, ratings in shown_ratings(evaluation.ratings).items():
            rated.setdefault(f"{evaluation.label}.{metric}", []).append(ratings)
    values: dict[str, float] = {}
    missing: dict[str, Missing] = {}
    for measure, judgings in rated.items():
        scored = [value for each in judgings if (value := mean_score(each)) is not None]
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
    )


def _missing(ratings: Sequence[Rating]) -> Missing:
    """The reason why the ratings have no score: NOT_APPLICABLE only if all of them are."""
    applicable = (each for each in ratings if each.status is not Status.NOT_APPLICABLE)
    first = next(applicable, ratings[0])
    return Missing(first.status, first.reason)
