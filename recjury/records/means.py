"""Which ratings of a metric count, and the score that they have together."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from recjury.records.metric import metric_id
from recjury.records.rating import Rating

MEAN = "mean"
"""The rater of a mean over several judges."""


def shown_ratings(ratings: Iterable[Rating]) -> dict[str, list[Rating]]:
    """The ratings that count, by metric id: the mean of several judges, or all if there is none."""
    given: dict[str, list[Rating]] = {}
    for rating in ratings:
        given.setdefault(metric_id(rating.factor), []).append(rating)
    return {
        metric: [rating for rating in several if rating.evaluator == MEAN] or several
        for metric, several in given.items()
    }


def mean_score(ratings: Sequence[Rating]) -> float | None:
    """The mean over turns of the mean over judges; None if no rating has a score."""
    by_turn: dict[int | None, list[float]] = {}
    for rating in ratings:
        if rating.score is not None:
            by_turn.setdefault(rating.turn, []).append(rating.score)
    return fmean(map(fmean, by_turn.values())) if by_turn else None
