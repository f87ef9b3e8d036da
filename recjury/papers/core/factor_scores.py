"""The twelve factors as each judge of a store rated them, and what else was said of the whole."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import NamedTuple

from recjury.errors import DataError
from recjury.records import MEAN, Factor, ScoreTarget, metric_id
from recjury.store import Store

FACTORS = tuple(metric_id(factor) for factor in Factor)
OVERALL = "overall"

FactorScores = Mapping[str, Mapping[ScoreTarget, float]]
"""By factor: the score of each conversation that has one."""


class JudgedFactors(NamedTuple):
    """What the judges of a store said.

    `judges` has the factors by judge: the name of a rater, with its evaluator before it if there
    are several evaluators. The mean of several judges is called "mean". `overall` has other scores
    of the whole conversation by name: verdicts of debates, Recall, Persuasiveness. `systems`,
    `corpora` and `records` name each conversation's.
    """

    judges: Mapping[str, FactorScores]
    overall: Mapping[str, Mapping[ScoreTarget, float]]
    systems: Mapping[str, str]
    corpora: Mapping[str, str]
    records: Mapping[str, str]

    @property
    def single(self) -> tuple[str, ...]:
        """The judges but for means of several."""
        return tuple(name for name in self.judges if name.rpartition(":")[2] != MEAN)


def read_judged(store: Store, campaign: str | None = None) -> JudgedFactors:
    """The factors by judge; conversations are known by their log's id.

    Judgings of one conversation are averaged. Raises DataError if no factor was rated.
    """
    evaluators = store.evaluators(campaign)
    rating = {
        each.label for each in evaluators if {*FACTORS} & {metric.id for metric in each.metrics}
    }
    whole = {
        f"{each.label}.{metric.id}"
        for each in evaluators
        for metric in each.metrics
        if not metric.detail and metric.id not in FACTORS
    }
    factors: dict[str, dict[str, dict[ScoreTarget, list[float]]]] = {}
    overall: dict[str, dict[ScoreTarget, list[float]]] = {}
    systems: dict[str, str] = {}
    corpora: dict[str, str] = {}
    records: dict[str, str] = {}
    for result in store.results(campaign):
        if result.log is None:
            continue
        place = ScoreTarget(result.log)
        systems[result.log], corpora[result.log] = result.system, result.corpus
        records[result.log] = result.pair or result.scenario
        for evaluation in result.evaluations:
            for each in evaluation.ratings:
                if each.score is None or each.turn is not None:
                    continue
                metric, label = metric_id(each.factor), evaluation.label
                if metric in FACTORS and label in rating:
                    judge = each.evaluator if len(rating) == 1 else f"{label}:{each.evaluator}"
                    own = factors.setdefault(judge, {}).setdefault(metric, {})
                    own.setdefault(place, []).append(each.score)
                elif f"{label}.{metric}" in whole:
                    overall.setdefault(f"{label}.{metric}", {}).setdefault(place, []).append(
                        each.score
                    )
    if not factors:
        raise DataError(
            "no factor was rated here: `recjury judge --campaign ID --config FILE` rates them, "
            "with `core` among the evaluators"
        )
    return JudgedFactors(
        {judge: {name: _means(own[name]) for name in FACTORS if name in own}
         for judge, own in factors.items()},
        {name: _means(own) for name, own in overall.items()},
        systems,
        corpora,
        records,
    )  # fmt: skip


def read_roles(store: Store, campaign: str | None = None) -> FactorScores:
    """What the roles of the debates said in the last round, 0 to 100, and the verdict, "overall".

    With debates of several evaluators, their name stands before the role's. Debates of one
    conversation are averaged.
    """
    found: dict[str, dict[str, dict[ScoreTarget, list[float]]]] = {}
    for result in store.results(campaign):
        for evaluation in result.evaluations if result.log is not None else ():
            if (debate := store.debate(evaluation.evaluation)) is None:
                continue
            own = found.setdefault(evaluation.label, {})
            said = debate.transcript.statements
            last = max((each.round for each in said), default=0)
            scores = {str(each.role): each.score for each in said if each.round == last}
            for name, score in {**scores, OVERALL: debate.verdict.score}.items():
                if score is not None:
                    place = ScoreTarget(str(result.log))
                    own.setdefault(name, {}).setdefault(place, []).append(score)
    return {
        name if len(found) == 1 else f"{label}: {name}": _means(scores)
        for label, own in found.items()
        for name, scores in own.items()
    }


def _means(scores: Mapping[ScoreTarget, list[float]]) -> dict[ScoreTarget, float]:
    return {place: fmean(values) for place, values in scores.items()}


def mean_of_factors(scores: FactorScores, names: Iterable[str]) -> dict[ScoreTarget, float]:
    """The mean of these factors for each conversation that has any of them."""
    given: dict[ScoreTarget, list[float]] = {}
    for name in names:
        for place, score in scores.get(name, {}).items():
            given.setdefault(place, []).append(score)
    return _means(given)
