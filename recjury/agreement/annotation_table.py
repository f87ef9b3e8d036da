"""Annotation correlations (FACE, table 1): an evaluator's scores against people's labels."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recjury.corpora.crsarena import SUBSETS, Labels
from recjury.records import Aspect, ScoreTarget
from recjury.stats.correlation import Correlation, correlate

Scores = Mapping[Aspect, Mapping[ScoreTarget, float]]
"""By aspect: the score of each place that has one."""

Table = dict[str, dict[Aspect, Correlation]]
"""By subset and aspect."""


class Coverage(NamedTuple):
    """How many places with a label have a score, and how many scores have no label."""

    labelled: int
    scored: int
    without_label: int


def annotation_table(scores: Scores, labels: Labels) -> Table:
    """Correlations per subset and aspect, over the places that have both a score and a label.

    Aspects are in the order of `Aspect`; those without scores are left out.
    """
    return {
        subset: {
            aspect: _correlation(scores[aspect], labels.get(aspect, {}), subset)
            for aspect in Aspect
            if aspect in scores
        }
        for subset in SUBSETS
    }


def coverage(scores: Scores, labels: Labels) -> dict[str, dict[Aspect, Coverage]]:
    """How many labelled places have a score, per subset and aspect that is scored."""
    return {
        subset: {
            aspect: _coverage(
                set(_of(subset, scores[aspect])), set(_of(subset, labels.get(aspect, {})))
            )
            for aspect in Aspect
            if aspect in scores
        }
        for subset in SUBSETS
    }


def _coverage(scored: set[ScoreTarget], labelled: set[ScoreTarget]) -> Coverage:
    return Coverage(len(labelled), len(labelled & scored), len(scored - labelled))


def _correlation(
    scores: Mapping[ScoreTarget, float], labels: Mapping[ScoreTarget, int], subset: str
) -> Correlation:
    both = [place for place in _of(subset, labels) if place in scores]
    return correlate([scores[place] for place in both], [labels[place] for place in both])


def _of(subset: str, places: Iterable[ScoreTarget]) -> Iterable[ScoreTarget]:
    """The places of a subset; an id in another format belongs to no subset."""
    return (place for place in places if subset in place.conversation.split("_")[1:-1])
