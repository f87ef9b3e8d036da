"""CoRE, section 7.1.2: judges combined by weights of their own for each factor, and by routing."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.label_sets import LabelSet
from recjury.papers.core.factor_scores import FACTORS, FactorScores, JudgedFactors
from recjury.records import ScoreTarget
from recjury.stats.correlation import correlate

_Floats = NDArray[np.float64]
_FOLDS = 5
EQUAL, ROUTED, WEIGHTED = "equal weights", "best judge, held out", "weights, held out"


class CombinedJudges(NamedTuple):
    """The judges' scores combined: by way, and by factor the judges' weights of all records.

    Of the ways, ROUTED and WEIGHTED are chosen on four fifths of the records and used on the fifth.
    """

    ways: Mapping[str, FactorScores]
    weights: Mapping[str, Mapping[str, float]]


def combined_judges(judged: JudgedFactors, people: LabelSet, prior: float) -> CombinedJudges:
    """All single judges combined, over the conversations with a label and all their scores.

    `prior` is as in `judge_weights`. A factor whose records are all in one fold is left out.
    """
    ways: dict[str, dict[str, Mapping[ScoreTarget, float]]] = {}
    by_factor: dict[str, Mapping[str, float]] = {}
    for factor in FACTORS if len(judged.single) > 1 else ():
        judges = {name: judged.judges[name].get(factor, {}) for name in judged.single}
        labels = people.labels.get(factor, {})
        places = [each for each in labels if all(each in own for own in judges.values())]
        folds = np.array([_fold(people.clusters[each.conversation]) for each in places])
        if len(set(folds.tolist())) < 2:
            continue
        scores = np.array([[own[each] for own in judges.values()] for each in places])
        wanted = np.array([labels[each] for each in places])
        found = {EQUAL: scores.mean(axis=1)} | _held_out(scores, wanted, folds, prior)
        for way, own in found.items():
            ways.setdefault(way, {})[factor] = dict(zip(places, own.tolist(), strict=True))
        own = judge_weights(scores, wanted, prior)
        by_factor[factor] = dict(zip(judges, own.tolist(), strict=True))
    return CombinedJudges(ways, by_factor)


def judge_weights(scores: _Floats, people: _Floats, prior: float) -> _Floats:
    """Weights [k] of the columns of `scores` [n, k] that predict `people` [n]; their sum is 1.

    They are those of a ridge regression that shrinks towards equal weights, which count like
    `prior` rows of average variance; negative ones are 0.
    """
    n, k = scores.shape
    equal = np.full(k, 1 / k)
    x, y = scores - scores.mean(axis=0), people - people.mean()
    products = x.T @ x
    strength = max(prior * float(np.trace(products)) / (k * n), 1e-9)
    found = np.linalg.solve(products + strength * np.eye(k), x.T @ y + strength * equal)
    positive = np.maximum(found, 0.0)
    total = float(positive.sum())
    return positive / total if total > 0 else equal


def _held_out(
    scores: _Floats, people: _Floats, folds: NDArray[np.int64], prior: float
) -> dict[str, _Floats]:
    routed, weighted = np.empty(len(people)), np.empty(len(people))
    for fold in range(_FOLDS):
        here, known = folds == fold, folds != fold
        rho = [correlate(column, people[known]).spearman for column in scores[known].T]
        best = int(np.argmax([-2.0 if each is None else each for each in rho]))
        routed[here] = scores[here, best]
        weighted[here] = scores[here] @ judge_weights(scores[known], people[known], prior)
    return {ROUTED: routed, WEIGHTED: weighted}


def _fold(cluster: str) -> int:
    return hashlib.sha256(cluster.encode()).digest()[0] % _FOLDS
