"""Metrics, which evaluators declare and all tables read, and the score of a metric's ratings."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from statistics import fmean

from pydantic import Field

from recjury.records.base import Record
from recjury.records.rating import Level, Rating


class Need(StrEnum):
    """What a metric needs."""

    LIST = "list"  # a recommendation list
    TARGETS = "targets"  # target items
    MODEL = "model"  # a model to ask
    LOGPROBS = "logprobs"  # a model whose endpoint sends log-probabilities


class Metric(Record):
    """One thing that an evaluator rates.

    `id` is unique within its evaluator ("grammatical_correctness"); with the evaluator's name
    before it, it is unique in a campaign ("core.grammatical_correctness"). `group` gathers
    metrics under one heading. `low` and `high` bound the scores; without an upper bound, `high`
    is None. A `detail` metric is exported, but not shown in the main tables or tested. `of_some`
    says that only some conversations are expected to have a score. `digits` is the
    number of decimals in tables.
    """

    id: str = Field(pattern="^[a-z0-9][a-z0-9_@]*$")
    title: str = Field(min_length=1)
    group: str = ""
    level: Level = Level.DIALOGUE
    low: float = 0
    high: float | None = None
    higher_is_better: bool = True
    needs: tuple[Need, ...] = ()
    detail: bool = False
    of_some: bool = False
    digits: int = Field(default=2, ge=0, le=6)


def metric_id(name: str) -> str:
    """The id of the metric that a rating belongs to: "Grammatical Correctness" has the id
    "grammatical_correctness"."""
    return name.lower().replace(" ", "_")


MEAN = "mean"
"""The rater of a mean over several judges."""


def shown_ratings(ratings: Iterable[Rating]) -> dict[str, list[Rating]]:
    """The ratings that count, by metric id: the mean of several judges, or all if there is none."""
    given: dict[str, list[Rating]] = {}
    for rating in ratings:
        given.setdefault(metric_id(rating.factor), []).append(rating)
    return {metric: counted(several) for metric, several in given.items()}


def counted(ratings: list[Rating]) -> list[Rating]:
    """The ratings of one metric that count: the mean of several judges, or all if there is none."""
    return [rating for rating in ratings if rating.evaluator == MEAN] or ratings


def mean_score(ratings: Sequence[Rating]) -> float | None:
    """The mean over turns of the mean over judges; None if no rating has a score."""
    by_turn: dict[int | None, list[float]] = {}
    for rating in ratings:
        if rating.score is not None:
            by_turn.setdefault(rating.turn, []).append(rating.score)
    return fmean(map(fmean, by_turn.values())) if by_turn else None
