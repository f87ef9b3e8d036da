"""The metrics of `outcome`: each computed metric with its computation, and Persuasiveness."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from recjury.judges.guideline import NO_TARGETS, no_list
from recjury.records import (
    PERSUASIVENESS,
    PERSUASIVENESS_SCALE,
    ConversationLog,
    ConversationRecord,
    Ending,
    Metric,
    Need,
    first_hit,
    metric_id,
)

TARGET_SEEN = "a target is named in the history already"
RECORDED_ELSEWHERE = "the conversation was recorded elsewhere"

NOBODY_ANSWERED = "nobody answered: the session is offline"

_CUTOFFS = (1, 5, 10)
_ITEMS = (Need.LIST, Need.TARGETS)
_DIGITS = 9


class MetricValue(NamedTuple):
    """A value, or the reason why there is none."""

    value: float | None
    reason: str = ""


class ComputedMetric(NamedTuple):
    """A metric, and how its value is computed."""

    metric: Metric
    compute: Callable[[ConversationRecord], MetricValue]


def _recall(k: int) -> ComputedMetric:
    return ComputedMetric(
        _recall_metric(k, "", ""),
        lambda record: _of_items(record.log, record.log.recall_at(k)),
    )


def _new_recall(k: int) -> ComputedMetric:
    def compute(record: ConversationRecord) -> MetricValue:
        if record.log.scenario.target_seen:
            return MetricValue(None, TARGET_SEEN)
        return _of_items(record.log, record.log.recall_at(k))

    metric = _recall_metric(k, "new_", " of new targets", detail=k != _CUTOFFS[-1], of_some=True)
    return ComputedMetric(metric, compute)


def _last_turn_recall(k: int) -> ComputedMetric:
    return ComputedMetric(
        _recall_metric(k, "last_turn_", " of the last turn", detail=True),
        lambda record: _of_items(record.log, record.log.last_turn_recall_at(k)),
    )


def _recall_metric(
    k: int, prefix: str, suffix: str, *, detail: bool = False, of_some: bool = False
) -> Metric:
    return Metric(
        id=f"{prefix}recall@{k}",
        title=f"Recall@{k}{suffix}",
        group="Recommendation",
        high=1,
        needs=_ITEMS,
        digits=3,
        detail=detail,
        of_some=of_some,
    )


def _of_conversation(
    id_: str,
    title: str,
    compute: Callable[[ConversationRecord], MetricValue],
    *,
    higher_is_better: bool = False,
    digits: int = 2,
) -> ComputedMetric:
    metric = Metric(
        id=id_,
        title=title,
        group="Conversation",
        higher_is_better=higher_is_better,
        detail=True,
        digits=digits,
    )
    return ComputedMetric(metric, compute)


def _of_items(log: ConversationLog, value: float | None, none: str = "") -> MetricValue:
    """`value` if items can be compared with targets, otherwise the reason why they cannot.

    A simulated system that recommended nothing has missed; a recorded one may have had no lists.
    """
    if not log.scenario.targets:
        return MetricValue(None, NO_TARGETS)
    if log.ending is Ending.RECORDED and not log.session_list():
        return MetricValue(None, no_list(log))
    return MetricValue(value, "" if value is not None else none)


def _hit_round(log: ConversationLog) -> int | None:
    """The round of the first hit; recorded logs do not name it."""
    return first_hit(log.interaction, log.scenario.targets, log.list_length)


def _leaks(log: ConversationLog, count: int) -> MetricValue:
    """`count` if the user was simulated: others are not watched."""
    if log.ending is Ending.OFFLINE:
        return MetricValue(None, NOBODY_ANSWERED)
    return (
        MetricValue(None, RECORDED_ELSEWHERE)
        if log.ending is Ending.RECORDED
        else MetricValue(count)
    )


def _mean(values: Sequence[float | None], unknown: str) -> MetricValue:
    """The mean over all turns; no value if one of them is unknown."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return MetricValue(None, unknown)
    return MetricValue(round(sum(known) / len(known), _DIGITS))


COMPUTED_METRICS: tuple[ComputedMetric, ...] = (
    *map(_recall, _CUTOFFS),
    *map(_new_recall, _CUTOFFS),
    *map(_last_turn_recall, _CUTOFFS),
    ComputedMetric(
        Metric(
            id="hit_round",
            title="Hit round",
            group="Recommendation",
            low=1,
            higher_is_better=False,
            needs=_ITEMS,
            detail=True,
            of_some=True,
        ),
        lambda record: _of_items(record.log, _hit_round(record.log), "no target was recommended"),
    ),
    _of_conversation(
        "rounds",
        "Rounds",
        lambda record: MetricValue(len(record.log.system_turns)),
        higher_is_better=True,
    ),
    _of_conversation(
        "leaks_caught",
        "Leaks caught",
        lambda record: _leaks(record.log, record.log.leaks_caught),
    ),
    _of_conversation(
        "leaks_through",
        "Leaks through",
        lambda record: _leaks(record.log, record.log.leaks_through),
    ),
    _of_conversation(
        "values_caught",
        "Telling values caught",
        lambda record: _leaks(record.log, record.log.values_caught),
    ),
    _of_conversation(
        "values_through",
        "Telling values through",
        lambda record: _leaks(record.log, record.log.values_through),
    ),
    _of_conversation(
        "pairs_told",
        "Telling pairs told",
        lambda record: _leaks(record.log, record.log.pairs_told),
    ),
    _of_conversation(
        "seconds_per_turn",
        "Seconds a turn",
        lambda record: _mean(record.seconds, "how long the system took is not known"),
    ),
    _of_conversation(
        "cost_per_turn",
        "Cost a turn",
        lambda record: _mean(record.costs, "what the system's turns cost is not known"),
        digits=6,
    ),
)

METRICS: tuple[Metric, ...] = (
    *(computed.metric for computed in COMPUTED_METRICS),
    Metric(
        id=metric_id(PERSUASIVENESS),
        title=PERSUASIVENESS,
        group="Conversation",
        low=PERSUASIVENESS_SCALE[0],
        high=PERSUASIVENESS_SCALE[1],
        needs=(Need.TARGETS,),
    ),
)
