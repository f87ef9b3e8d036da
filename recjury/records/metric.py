"""Metrics: what an evaluator rates. They are declared once, and read by all tables and reports."""

from enum import StrEnum

from pydantic import Field

from recjury.records.base import Record
from recjury.records.rating import Level


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
