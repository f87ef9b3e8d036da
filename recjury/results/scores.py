"""The scores of one conversation: a value of each metric, or the reason why there is none."""

import math
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from statistics import fmean
from typing import NamedTuple, cast

from recjury.records import FAILED, MEAN, Metric, Need, Status, metric_id
from recjury.store import CampaignEvaluator, ConversationResult, Layout, RatedAs

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


_Judgings = tuple[tuple[tuple[int, ...], ...], ...]
"""The places of the scores of a measure, by judging and turn."""


class ScoreForm:
    """What conversations have in common that were rated alike, whatever their scores are.

    `means` says of which scores the value of each measure is the mean, and `only` which one it is
    where there is one. `missing` has the reasons of measures without a value, `due` says how many
    ratings of each should have a score, and `lost` how many of these have none. `scales` has the
    lowest and the highest score of each. `given` says where the scores of each rater are.
    """

    def __init__(self, evaluations: Sequence[tuple[str, Layout]]) -> None:
        """`evaluations` are their evaluators' labels and layouts; scores are in their order."""
        self._ratings: list[RatedAs] = []
        self.given: dict[RatedBy, list[int]] = {}
        self.judged: dict[str, list[list[int]]] = {}
        self.means: dict[str, _Judgings] = {}
        self.only: dict[str, int] = {}
        self.missing: dict[str, Missing] = {}
        self.due: dict[str, int] = {}
        self.lost: dict[str, int] = {}
        self.scales: dict[str, tuple[float, float]] = {}
        self.is_complete = not any(layout.unscored for _, layout in evaluations)
        for label, layout in evaluations:
            self._add(label, layout)
        for measure, judgings in self.judged.items():
            self._sum_up(measure, judgings)

    def _sum_up(self, measure: str, judgings: Sequence[Sequence[int]]) -> None:
        ratings = [self._ratings[place] for own in judgings for place in own]
        scored = sum(each.status is Status.SCORED for each in ratings)
        lost = sum(each.status in FAILED for each in ratings)
        self.due[measure] = scored + lost
        low, high = ratings[0].low, ratings[0].high
        self.scales[measure] = (low, math.inf if high is None else high)
        if lost:
            self.lost[measure] = lost
        if turns := self._by_turn(judgings, {Status.SCORED}):
            self.means[measure] = turns
            if len(turns) == len(turns[0]) == len(turns[0][0]) == 1:
                self.only[measure] = turns[0][0][0]
        else:
            self.missing[measure] = _missing(ratings)

    def _add(self, label: str, layout: Layout) -> None:
        own: dict[str, list[int]] = {}
        for place, rating in enumerate(layout.ratings, len(self._ratings)):
            measure = f"{label}.{metric_id(rating.factor)}"
            own.setdefault(measure, []).append(place)
            if rating.status is Status.SCORED and rating.evaluator != MEAN:
                self.given.setdefault(RatedBy(measure, rating.evaluator), []).append(place)
        self._ratings += layout.ratings
        for measure, places in own.items():
            means = [place for place in places if self._ratings[place].evaluator == MEAN]
            self.judged.setdefault(measure, []).append(means or places)

    def _by_turn(self, judgings: Iterable[Iterable[int]], statuses: Container[Status]) -> _Judgings:
        """The places of ratings with one of these statuses, by judging and turn."""
        found: list[tuple[tuple[int, ...], ...]] = []
        for places in judgings:
            turns: dict[int | None, list[int]] = {}
            for place in places:
                if self._ratings[place].status in statuses:
                    turns.setdefault(self._ratings[place].turn, []).append(place)
            found.append(tuple(map(tuple, turns.values())))
        return tuple(filter(None, found))

    def value(self, measure: str, scores: Sequence[float]) -> float:
        """The mean over judgings, of means over turns, of means over judges."""
        if (place := self.only.get(measure)) is not None:
            return scores[place]
        return fmean(self.by_judging(measure, scores))

    def by_judging(self, measure: str, scores: Sequence[float]) -> list[float]:
        """The value by each judging that gave one."""
        return _by_judging(self.means[measure], scores)

    def if_lost_were(self, end: float, measure: str, scores: Sequence[float]) -> float:
        """The value of a measure of which ratings were lost, if each of these had this score."""
        due = self._by_turn(self.judged[measure], {Status.SCORED, *FAILED})
        return fmean(_by_judging(due, [end if math.isnan(each) else each for each in scores]))


def _by_judging(judgings: _Judgings, scores: Sequence[float]) -> list[float]:
    return [
        fmean(fmean(scores[place] for place in judges) for judges in turns) for turns in judgings
    ]


_form = lru_cache(maxsize=10_000)(ScoreForm)


class ConversationScores(NamedTuple):
    """One conversation's scores, which `form` explains.

    `pair` is the key by which conversations of two systems are paired; `failed` is True if the
    conversation itself did not finish, and `is_lost` if this counts as lost ratings. `has_list`
    says whether the system listed any item. `scores` has NaN for ratings without one.
    """

    conversation: str
    system: str
    corpus: str
    pair: str
    failed: bool
    has_list: bool
    form: ScoreForm
    scores: tuple[float, ...]
    is_lost: bool = False

    @property
    def values(self) -> dict[str, float]:
        """The value of each measure that has one."""
        return {measure: self.form.value(measure, self.scores) for measure in self.form.means}

    def value(self, measure: str) -> float | None:
        """The value of a measure, if it has one."""
        return self.form.value(measure, self.scores) if measure in self.form.means else None

    @property
    def missing(self) -> Mapping[str, Missing]:
        """The reason of each measure that has none."""
        return self.form.missing


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
    evaluations = result.evaluations
    form = _form(tuple([(each.label, each.scores.layout) for each in evaluations]))
    scores = chain.from_iterable([each.scores.ratings for each in evaluations])
    return ConversationScores(
        conversation=result.conversation,
        system=result.system,
        corpus=result.corpus,
        pair=result.pair or result.scenario,
        failed=result.failure is not None,
        has_list=result.has_list,
        form=form,
        scores=tuple(cast("Iterable[float]", scores) if form.is_complete else map(_or_nan, scores)),
        is_lost=result.is_lost,
    )


def _or_nan(score: float | None) -> float:
    return math.nan if score is None else score


def _missing(ratings: Sequence[RatedAs]) -> Missing:
    """The reason why the ratings have no score: NOT_APPLICABLE only if all of them are."""
    applicable = (each for each in ratings if each.status is not Status.NOT_APPLICABLE)
    first = next(applicable, ratings[0])
    return Missing(first.status, first.reason)
