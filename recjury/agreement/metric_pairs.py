"""Which metric is held against which aspect, and whether two metrics' agreement differs."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.label_sets import LabelSet
from recjury.agreement.score_files import Scores
from recjury.errors import ConfigError
from recjury.mistakes import did_you_mean
from recjury.records import JSON, ScoreTarget
from recjury.stats.clustered import cluster_bootstrap
from recjury.stats.correlation import correlate
from recjury.stats.dependent import (
    CorrelationGap,
    CorrelationTest,
    steiger,
    williams,
    zou,
)

_Floats = NDArray[np.float64]


class MetricDifference(NamedTuple):
    """Pearson's r of `a` with the labels minus that of `b`, over the places that both scored.

    The interval is Zou's (2007) and the tests are there if each conversation has one place. For
    turns, the interval is the bootstrap's over conversations, and there are no tests, since they
    would take turns of one conversation as independent.
    """

    a: str
    b: str
    gap: CorrelationGap
    williams: CorrelationTest | None
    steiger: CorrelationTest | None
    n: int

    def as_json(self) -> dict[str, JSON]:
        """The difference with its interval, and both tests."""
        return {
            "a": self.a,
            "b": self.b,
            "difference": self.gap.value,
            "low": self.gap.low,
            "high": self.gap.high,
            "williams_p": self.williams.p if self.williams else None,
            "steiger_p": self.steiger.p if self.steiger else None,
            "n": self.n,
        }


def pair_metrics(
    metrics: Iterable[str], aspects: Iterable[str], chosen: Sequence[str] = ()
) -> dict[str, str]:
    """The aspect of each metric that has one: that of its name, or as `chosen` ("core.overall=x").

    Raises ConfigError for a choice that names no metric or aspect, and if nothing is paired.
    """
    known, labelled = list(metrics), list(aspects)
    found = {name: name.split(".")[-1] for name in known if name.split(".")[-1] in labelled}
    for choice in chosen:
        metric, equals, aspect = choice.partition("=")
        if not equals:
            raise ConfigError(f"--pair {choice}: expected METRIC=ASPECT")
        _check(metric, known, "metric", choice)
        _check(aspect, labelled, "aspect with labels", choice)
        found[metric] = aspect
    if not found:
        raise ConfigError(
            f"no metric has the name of an aspect: pair them by --pair METRIC=ASPECT "
            f"(metrics: {', '.join(known)}; aspects: {', '.join(labelled)})"
        )
    return found


def metric_differences(
    predictions: Scores, people: LabelSet, metrics: Sequence[str], aspect: str, subset: str
) -> tuple[MetricDifference, ...]:
    """Each two of `metrics`; those whose correlation is undefined are left out."""
    labels = people.labels_of(aspect, subset)
    found = (
        _difference(a, b, predictions, labels, people.clusters) for a, b in combinations(metrics, 2)
    )
    return tuple(each for each in found if each is not None)


class CorrelationComparison(NamedTuple):
    """The difference of two correlations with one thing, and the tests if there are any."""

    gap: CorrelationGap
    williams: CorrelationTest | None
    steiger: CorrelationTest | None


def difference_of_correlations(
    one: Sequence[float] | _Floats,
    other: Sequence[float] | _Floats,
    common: Sequence[float] | _Floats,
    clusters: Sequence[str],
) -> CorrelationComparison | None:
    """Pearson's r of `one` with `common`, minus that of `other` with it; all [n].

    Where each cluster has one place, the interval is Zou's, and there are tests; otherwise it is
    the bootstrap's over clusters. None if a correlation is undefined.
    """
    x, y, z = (np.asarray(each, dtype=float) for each in (one, other, common))
    if len(set(clusters)) < len(clusters):
        gap = _resampled_gap(x, y, z, clusters)
        return gap and CorrelationComparison(gap, None, None)
    first, second = correlate(x, z).pearson, correlate(y, z).pearson
    between = correlate(x, y).pearson
    if first is None or second is None or between is None:
        return None
    tested = first, second, between, len(z)
    gap = zou(*tested)
    return gap and CorrelationComparison(gap, williams(*tested), steiger(*tested))


def _difference(
    a: str,
    b: str,
    predictions: Scores,
    labels: Mapping[ScoreTarget, float],
    clusters: Mapping[str, str],
) -> MetricDifference | None:
    places = [place for place in labels if place in predictions[a] and place in predictions[b]]
    if not places:
        return None
    found = difference_of_correlations(
        [predictions[a][place] for place in places],
        [predictions[b][place] for place in places],
        [labels[place] for place in places],
        [clusters[place.conversation] for place in places],
    )
    return found and MetricDifference(a, b, *found, len(places))


def _resampled_gap(
    one: _Floats, other: _Floats, labels: _Floats, clusters: Sequence[str]
) -> CorrelationGap | None:
    def gap(places: NDArray[np.int64]) -> list[float | None]:
        first, second = (correlate(each[places], labels[places]).pearson for each in (one, other))
        return [None if first is None or second is None else first - second]

    (found,) = cluster_bootstrap(gap, clusters)
    if found.value is None or found.low is None or found.high is None:
        return None
    return CorrelationGap(found.value, found.low, found.high)


def _check(name: str, known: Sequence[str], what: str, choice: str) -> None:
    if name not in known:
        hint = did_you_mean(name, known) or f" (known: {', '.join(known)})"
        raise ConfigError(f"--pair {choice}: no {what} {name!r}{hint}")
