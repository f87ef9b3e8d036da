"""CoRE's questions (section 5): coupling, agreement by factor and judge, overall, systems."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

from recjury.agreement.agreement import AspectAgreement, Coefficients, agreements
from recjury.agreement.factor_scores import (
    FACTORS,
    OVERALL,
    ROLES,
    FactorScores,
    JudgedFactors,
    mean_of_factors,
)
from recjury.agreement.label_sets import LabelSet
from recjury.errors import DataError
from recjury.records import Factor, ScoreTarget, metric_id
from recjury.stats.correlation import correlate
from recjury.stats.coupling import Coupling, coupling

_FOLDS = 5
_ALL = "all"


class NamedCoupling(NamedTuple):
    """A coupling, and the names of its columns."""

    names: tuple[str, ...]
    coupling: Coupling


class BestJudge(NamedTuple):
    """The judge with the highest Spearman correlation for a factor, and the correlation.

    `held_out` is that of a judge chosen on four fifths of the records and tried on the fifth: what
    is left of choosing on the same labels.
    """

    judge: str
    spearman: float
    held_out: float | None


class MeanScore(NamedTuple):
    """A mean over conversations, its standard deviation, and their number."""

    mean: float
    sd: float | None
    n: int


def published() -> dict[str, Any]:
    """CoRE's own figures (section 7.1.1, tables 8, 9, 21 to 23), with its slips."""
    text = files("recjury.agreement").joinpath("published", "core.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def couple(
    scores: FactorScores, clusters: Mapping[str, str], *, resamples: int = 1_000, seed: int = 0
) -> NamedCoupling | None:
    """How factors or aspects move together (RQ1); turns count by their conversation's mean.

    None if fewer than two have scores.
    """
    means = {name: _by_conversation(own) for name, own in scores.items() if own}
    names = tuple(means)
    places = sorted({conversation for own in means.values() for conversation in own})
    if len(names) < 2:
        return None
    columns = np.array([[means[name].get(each, np.nan) for name in names] for each in places])
    found = coupling(
        columns, [clusters.get(each, each) for each in places], resamples=resamples, seed=seed
    )
    return NamedCoupling(names, found)


def _by_conversation(scores: Mapping[ScoreTarget, float]) -> dict[str, float]:
    given: dict[str, list[float]] = {}
    for place, score in scores.items():
        given.setdefault(place.conversation, []).append(score)
    return {name: fmean(values) for name, values in given.items()}


def people_factors(people: LabelSet) -> FactorScores:
    """People's labels of everything but the overall score, which is not a factor."""
    return {name: own for name, own in people.labels.items() if name != OVERALL}


def factor_agreement(
    judged: JudgedFactors, people: LabelSet, *, resamples: int = 2_000, seed: int = 0
) -> Mapping[str, AspectAgreement]:
    """By factor, each judge's agreement with people (RQ2), over all corpora together.

    Raises DataError if people rated none of the twelve factors, or other conversations.
    """
    labelled = [name for name in FACTORS if people.labels.get(name)]
    if not labelled:
        some = ", ".join(people.labels)
        raise DataError(f"people rated none of the twelve factors (rated: {some})")
    named = {
        f"{judge}.{factor}": own[factor]
        for factor in labelled
        for judge, own in judged.judges.items()
        if factor in own
    }
    pairs = {name: name.rpartition(".")[2] for name in named}
    pooled = people._replace(subsets=dict.fromkeys(people.subsets, _ALL))
    return agreements(named, pooled, pairs, resamples=resamples, seed=seed)[_ALL]


def best_judges(
    judged: JudgedFactors, people: LabelSet, found: Mapping[str, AspectAgreement]
) -> dict[str, BestJudge]:
    """By factor, the best of the single judges; those without any correlation are left out."""
    best: dict[str, BestJudge] = {}
    for factor, agreement in found.items():
        rho = {
            judge: value
            for judge in judged.single
            if (value := _spearman(agreement.metrics.get(f"{judge}.{factor}"))) is not None
        }
        if rho:
            judge = max(rho, key=rho.__getitem__)
            own = {name: judged.judges[name][factor] for name in rho}
            held_out = _held_out(own, people.labels[factor], people.clusters)
            best[factor] = BestJudge(judge, rho[judge], held_out)
    return best


def _spearman(found: Coefficients | None) -> float | None:
    return None if found is None or found.estimates is None else found.estimates.spearman.value


def _held_out(
    judges: Mapping[str, Mapping[ScoreTarget, float]],
    labels: Mapping[ScoreTarget, float],
    clusters: Mapping[str, str],
) -> float | None:
    """The mean correlation over the folds in which it is defined."""
    fold = {place: _fold(clusters[place.conversation]) for place in labels}
    found: list[float] = []
    for number in range(_FOLDS):
        known = [place for place in labels if fold[place] != number]
        rho = {name: _correlate(own, labels, known) for name, own in judges.items()}
        defined = {name: value for name, value in rho.items() if value is not None}
        if defined:
            chosen = judges[max(defined, key=defined.__getitem__)]
            value = _correlate(chosen, labels, [p for p in labels if fold[p] == number])
            found += [] if value is None else [value]
    return fmean(found) if found else None


def _fold(cluster: str) -> int:
    return hashlib.sha256(cluster.encode()).digest()[0] % _FOLDS


def _correlate(
    scores: Mapping[ScoreTarget, float],
    labels: Mapping[ScoreTarget, float],
    places: Sequence[ScoreTarget],
) -> float | None:
    both = [place for place in places if place in scores]
    return correlate([scores[p] for p in both], [labels[p] for p in both]).spearman


def overall_agreement(
    judged: JudgedFactors, people: LabelSet, *, resamples: int = 2_000, seed: int = 0
) -> AspectAgreement | None:
    """What agrees with people's overall score (RQ3): means of factors, verdicts, Recall.

    None if people gave no overall score.
    """
    if not people.labels.get(OVERALL):
        return None
    named: dict[str, Mapping[ScoreTarget, float]] = {
        f"mean of factors ({judge})": mean_of_factors(own, FACTORS)
        for judge, own in judged.judges.items()
    }
    named |= judged.overall
    pooled = people._replace(subsets=dict.fromkeys(people.subsets, _ALL))
    pairs = dict.fromkeys(named, OVERALL)
    return agreements(named, pooled, pairs, resamples=resamples, seed=seed)[_ALL][OVERALL]


def system_scores(
    judged: JudgedFactors, judge_of: Mapping[str, str]
) -> dict[str, dict[str, MeanScore]]:
    """By system, each factor and each role's mean of factors (RQ4).

    `judge_of` names the judge of a factor.
    """
    chosen = {
        factor: judged.judges[judge][factor]
        for factor, judge in judge_of.items()
        if factor in judged.judges[judge]
    }
    shown: dict[str, Mapping[ScoreTarget, float]] = {name: chosen[name] for name in chosen}
    shown |= {role: mean_of_factors(chosen, names) for role, names in ROLES.items()}
    found: dict[str, dict[str, MeanScore]] = {}
    for name, scores in shown.items():
        grouped: dict[str, list[float]] = {}
        for place, score in scores.items():
            grouped.setdefault(judged.systems[place.conversation], []).append(score)
        for system, values in grouped.items():
            sd = stdev(values) if len(values) > 1 else None
            found.setdefault(system, {})[name] = MeanScore(fmean(values), sd, len(values))
    return {system: found[system] for system in sorted(found)}


def usual_judge(judged: JudgedFactors) -> dict[str, str]:
    """The mean of several judges, or the first judge, for each factor that it rated."""
    name = next((each for each in judged.judges if each not in judged.single), None)
    judge = name or next(iter(judged.judges))
    return dict.fromkeys(judged.judges[judge], judge)


def routing_text(best: Mapping[str, BestJudge], judges: Iterable[str]) -> str:
    """A file that `judges.routing` of `core` names: the model of each factor."""
    factors = {metric_id(factor): str(factor) for factor in Factor}
    known = ", ".join(judges)
    lines = [
        f"# The judge that agrees best with people on each factor, of: {known}.",
        "# judges: {models: [...], routing: THIS_FILE}",
    ]
    for factor, each in best.items():
        model = each.judge.rpartition(":")[2]
        lines.append(f"{factors[factor]}: {json.dumps(model)} # rho {each.spearman:.3f}")
    return "\n".join(lines) + "\n"
