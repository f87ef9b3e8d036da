"""Outcomes: values computed from a log, and a rating by the simulated user."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recjury.judges.guideline import NO_LIST, NO_TARGETS
from recjury.judges.outcome.metrics import METRICS, RECALL_CUTOFFS
from recjury.records import (
    JSON,
    PERSUASIVENESS,
    PERSUASIVENESS_SCALE,
    ConversationLog,
    ConversationRecord,
    Ending,
    Metric,
    Rating,
    Stage,
    StageResult,
    Status,
    UserSimulator,
    is_target,
)

LOG = "log"
PERSUASIVE = "persuasiveness"
COMPUTED = "computed"
VERSION = 1

_DIGITS = 9
_RECORDED = "the conversation was recorded elsewhere"


class Found(NamedTuple):
    """A value, or the reason why there is none."""

    value: float | None
    reason: str = ""


class OutcomeEvaluator:
    """Computes what needs no judge, and asks the simulated user how persuasive the system was."""

    kind = "outcome"
    metrics = METRICS
    stages = (Stage(name=LOG), Stage(name=PERSUASIVE))
    open_at_once: int | None = None

    def __init__(
        self,
        user: UserSimulator | None = None,
        *,
        name: str = "outcome",
        models: Mapping[str, JSON] | None = None,
    ):
        """`user` is None if there is no simulated user to ask.

        `models` has, by alias, the settings of its model that can change a reply.
        """
        self._user = user
        self._models = dict(models or {})
        self.name = name

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The version of the computations, and the user who is asked."""
        user: JSON = None
        if self._user is not None:
            user = {key: value for key, value in self._user.settings.items() if key != "catalogue"}
        return {"version": VERSION, "user": user, "models": self._models}

    @property
    def data(self) -> Mapping[str, JSON]:
        """The catalogue that the user knows, if it knows one."""
        known = {} if self._user is None else self._user.settings
        return {"catalogue": known["catalogue"]} if "catalogue" in known else {}

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (neither stage needs the other)
    ) -> StageResult:
        """Return the computed ratings; or, for its stage, the rating of Persuasiveness."""
        if stage == LOG:
            return StageResult(computed(record))
        if self._user is None:
            return StageResult((_unasked("there is no simulated user"),))
        if record.log.ending is Ending.RECORDED:
            return StageResult((_unasked(_RECORDED),))
        return StageResult((await self._user.persuasiveness(record.log),))


def computed(record: ConversationRecord) -> tuple[Rating, ...]:
    """The ratings of all metrics except Persuasiveness, in their order."""
    found = dict(_values(record))
    return tuple(_rating(metric, found[metric.id]) for metric in METRICS if metric.id in found)


def _values(record: ConversationRecord) -> Iterator[tuple[str, Found]]:
    log = record.log
    for k in RECALL_CUTOFFS:
        yield f"recall@{k}", _of_items(log, log.recall_at(k))
        is_seen = log.scenario.target_seen
        new = Found(None, "a target is named in the history already")
        yield f"new_recall@{k}", new if is_seen else _of_items(log, log.recall_at(k))
        yield f"last_turn_recall@{k}", _of_items(log, log.last_turn_recall_at(k))
    hit = _hit_round(log)
    yield "hit_round", _of_items(log, hit, "no target was recommended")
    yield "rounds", Found(len(log.system_turns))
    for name, count in (("caught", log.leaks_caught), ("through", log.leaks_through)):
        is_watched = log.ending is not Ending.RECORDED
        yield f"leaks_{name}", Found(count) if is_watched else Found(None, _RECORDED)
    yield "seconds_per_turn", _mean(record.seconds, "how long the system took is not known")
    yield "cost_per_turn", _mean(record.costs, "what the system's turns cost is not known")


def _of_items(log: ConversationLog, value: float | None, none: str = "") -> Found:
    """`value` if items can be compared with targets, otherwise the reason why they cannot.

    A simulated system that recommended nothing has missed; a recorded one may have had no lists.
    """
    if not log.scenario.targets:
        return Found(None, NO_TARGETS)
    if log.ending is Ending.RECORDED and not log.session_list():
        return Found(None, NO_LIST)
    return Found(value, "" if value is not None else none)


def _hit_round(log: ConversationLog) -> int | None:
    """The 1-based round of the first list with a target; recorded logs do not name it."""
    for number, turn in enumerate(log.system_turns, start=1):
        if any(is_target(item, log.scenario.targets) for item in turn.items[: log.list_length]):
            return number
    return None


def _mean(values: Sequence[float | None], unknown: str) -> Found:
    """The mean over all turns; no value if one of them is unknown."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return Found(None, unknown)
    return Found(round(sum(known) / len(known), _DIGITS))


def _rating(metric: Metric, found: Found) -> Rating:
    return Rating(
        evaluator=COMPUTED,
        factor=metric.id,
        score=found.value,
        status=Status.NOT_APPLICABLE if found.value is None else Status.SCORED,
        reason=found.reason,
        low=metric.low,
        high=metric.high,
        rubric=f"outcome/{VERSION}",
    )


def _unasked(why: str) -> Rating:
    low, high = PERSUASIVENESS_SCALE
    return Rating(
        evaluator=COMPUTED,
        factor=PERSUASIVENESS,
        score=None,
        status=Status.NOT_APPLICABLE,
        reason=f"nobody can be asked: {why}",
        low=low,
        high=high,
    )
