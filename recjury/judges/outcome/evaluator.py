"""Outcomes: values computed from a log, and a rating by the simulated user."""

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal, Protocol, runtime_checkable

from recjury.judges.evaluator import Evaluator
from recjury.judges.outcome.metrics import (
    COMPUTED_METRICS,
    METRICS,
    RECORDED_ELSEWHERE,
    ComputedMetric,
    MetricValue,
)
from recjury.llm import PlannedCall
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Ending,
    Metric,
    Rating,
    RatingSubject,
    Stage,
    StageResult,
    Status,
    persuasiveness_subject,
)

LOG = "log"
PERSUASIVE = "persuasiveness"
COMPUTED = "computed"
VERSION = 2


@runtime_checkable
class _AskedByCalls(Protocol):
    """A simulated user that is a model."""

    def plan_persuasiveness(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """The call for the rating of Persuasiveness, if there is something to rate."""


class OutcomeEvaluator(Evaluator):
    """Recall, rounds, leaks, time, cost; and Persuasiveness, which the simulated user rates."""

    asks_user: ClassVar[bool] = True

    kind: Literal["outcome"] = "outcome"

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Always the same."""
        return METRICS

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What is computed, and what the user is asked."""
        return (Stage(name=LOG), Stage(name=PERSUASIVE))

    @property
    def sources(self) -> Mapping[str, JSON]:
        """The version of the computations, and the user who is asked, with its model."""
        user = self._context.user
        if user is None:
            return {"version": VERSION}
        asked = {key: value for key, value in user.settings.items() if key != "catalogue"}
        if rubric := getattr(user, "rubric", ""):  # only a model is asked by prompts
            asked["persuasiveness"] = rubric
        models = self._context.reply_settings([user.name])
        return {"version": VERSION, "user": asked, **({"models": models} if models else {})}

    @property
    def data(self) -> Mapping[str, JSON]:
        """The catalogue that the user knows, if it knows one."""
        known = {} if self._context.user is None else self._context.user.settings
        return {"catalogue": known["catalogue"]} if "catalogue" in known else {}

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """The call to the user, if it is a model."""
        user = self._context.user
        return user.plan_persuasiveness(log) if isinstance(user, _AskedByCalls) else iter(())

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (neither stage needs the other)
    ) -> StageResult:
        """Return the computed ratings; or, for its stage, the rating of Persuasiveness."""
        if stage == LOG:
            return StageResult(tuple(compute(metric, record) for metric in COMPUTED_METRICS))
        if self._context.user is None:
            return StageResult((_nobody("there is no simulated user"),))
        if record.log.ending is Ending.RECORDED:
            return StageResult((_nobody(RECORDED_ELSEWHERE),))
        return StageResult((await self._context.user.persuasiveness(record.log),))


def compute(computed: ComputedMetric, record: ConversationRecord) -> Rating:
    """The rating of a computed metric."""
    return rating_of(computed.metric, computed.compute(record), f"outcome/{VERSION}")


def rating_of(metric: Metric, result: MetricValue, rubric: str) -> Rating:
    """The rating with a computed value, or with the reason why there is none."""
    subject = RatingSubject(
        evaluator=COMPUTED, factor=metric.id, low=metric.low, high=metric.high, rubric=rubric
    )
    if result.value is None:
        return subject.unscored(Status.NOT_APPLICABLE, result.reason)
    return subject.scored(result.value)


def _nobody(why: str) -> Rating:
    reason = f"nobody can be asked: {why}"
    return persuasiveness_subject(COMPUTED).unscored(Status.NOT_APPLICABLE, reason)
