"""How far an evaluator's scores agree with people's labels: coefficients, intervals, predictors."""

from collections.abc import Mapping
from typing import NamedTuple

from recjury.agreement.label_sets import LabelSet
from recjury.agreement.predictors import CONSTANT, LENGTH, SYSTEM_MEAN, lengths, system_means
from recjury.agreement.score_files import Scores
from recjury.agreement.scored_run import score_table
from recjury.errors import DataError
from recjury.records import JSON, ScoreTarget
from recjury.stats.agreement import krippendorff_alpha, one_against_the_rest
from recjury.stats.resampled import NOTHING, CorrelationEstimates
from recjury.stats.score_table import correlate

RESAMPLES = 2_000


class Coefficients(NamedTuple):
    """The correlations of one metric with one aspect's labels, over places that have both.

    `coverage` (0 to 1) is their share of the labelled places. `filled` are the correlations where
    each place without a score gets the mean of the scores: what the missing ones may cost. It is
    None if none is missing. `estimates` is None if no place has both.
    """

    estimates: CorrelationEstimates | None
    coverage: float
    filled: CorrelationEstimates | None

    def as_json(self) -> dict[str, JSON]:
        """The coefficients with their intervals, n and coverage."""
        found = self.estimates or NOTHING
        own: dict[str, JSON] = {
            "pearson": found.pearson.as_json(),
            "spearman": found.spearman.as_json(),
            "kendall": found.kendall.as_json(),
            "within_system": {
                "pearson": found.within_pearson.as_json(),
                "spearman": found.within_spearman.as_json(),
            },
            "n": found.n,
            "coverage": self.coverage,
        }
        if self.filled is not None:
            own["filled"] = {
                "pearson": self.filled.pearson.as_json(),
                "spearman": self.filled.spearman.as_json(),
            }
        return own


class Ceiling(NamedTuple):
    """How far people agree with each other; None if it is undefined.

    `alpha` is Krippendorff's for ordinal ratings, `one_against_the_rest` a Spearman's rho.
    """

    alpha: float | None
    one_against_the_rest: float | None
    places: int

    def as_json(self) -> dict[str, JSON]:
        """All three numbers."""
        return dict(self._asdict())


class AspectAgreement(NamedTuple):
    """One aspect of one subset: each metric's coefficients, the simple predictors', and people's.

    `ceiling` is None if the data have no single ratings.
    """

    metrics: Mapping[str, Coefficients]
    predictors: Mapping[str, Coefficients]
    ceiling: Ceiling | None


Agreements = Mapping[str, Mapping[str, AspectAgreement]]
"""By subset and aspect."""


def agreements(
    predictions: Scores,
    people: LabelSet,
    pairs: Mapping[str, str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Agreements:
    """Each metric with the aspect that `pairs` gives it, by subset.

    Intervals are over conversations. Aspects without a metric are left out. Raises DataError if no
    conversation has both a score and a label.
    """
    scored = {place.conversation for own in predictions.values() for place in own}
    if not scored & set(people.subsets):
        some = next(iter(sorted(scored)), "none")
        raise DataError(
            f"no conversation has both a score and a label: the scores have {some!r}, "
            f"the labels {next(iter(people.subsets), 'none')!r}"
        )
    by_aspect: dict[str, list[str]] = {}
    for metric, aspect in pairs.items():
        by_aspect.setdefault(aspect, []).append(metric)
    work = _Correlating(people, resamples, seed)
    return {
        subset: {
            aspect: _of_aspect(work, aspect, {name: predictions[name] for name in metrics}, subset)
            for aspect, metrics in by_aspect.items()
        }
        for subset in dict.fromkeys(people.subsets.values())
    }


class _Correlating(NamedTuple):
    people: LabelSet
    resamples: int
    seed: int

    def coefficients(
        self, scores: Mapping[ScoreTarget, float], labels: Mapping[ScoreTarget, float]
    ) -> Coefficients:
        scored = {place: scores[place] for place in labels if place in scores}
        coverage = len(scored) / len(labels) if labels else 0.0
        if not scored:
            return Coefficients(None, coverage, None)
        filled = None
        if len(scored) < len(labels):
            mean = sum(scored.values()) / len(scored)
            filled = self._correlate({place: scored.get(place, mean) for place in labels}, labels)
        return Coefficients(self._correlate(scored, labels), coverage, filled)

    def _correlate(
        self, scores: Mapping[ScoreTarget, float], labels: Mapping[ScoreTarget, float]
    ) -> CorrelationEstimates:
        people = self.people
        table = score_table("scores", scores, labels, people.systems, people.clusters)
        return correlate(table, resamples=self.resamples, seed=self.seed)["scores"]


def _of_aspect(work: _Correlating, aspect: str, metrics: Scores, subset: str) -> AspectAgreement:
    people = work.people
    labels = people.labels_of(aspect, subset)
    several = len({people.systems[place.conversation] for place in labels}) > 1
    simple = {
        LENGTH: lengths(list(labels), people.logs),
        # With one system, it is the mean of all others, which only falls as the own label rises.
        SYSTEM_MEAN: system_means(labels, people.systems) if several else {},
        CONSTANT: dict.fromkeys(labels, 0.0),
    }
    return AspectAgreement(
        {name: work.coefficients(scores, labels) for name, scores in metrics.items()},
        {name: work.coefficients(scores, labels) for name, scores in simple.items()},
        _ceiling(people, aspect, labels),
    )


def _ceiling(people: LabelSet, aspect: str, labels: Mapping[ScoreTarget, float]) -> Ceiling | None:
    given = people.ratings.get(aspect, {})
    units = [given[place] for place in labels if place in given]
    if not any(len(unit) > 1 for unit in units):
        return None
    return Ceiling(krippendorff_alpha(units), one_against_the_rest(units), len(units))
