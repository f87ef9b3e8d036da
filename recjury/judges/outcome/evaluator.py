"""Outcomes: values computed from a log, and a rating by the simulated user."""

from collections.abc import Mapping

from recjury.judges.outcome.metrics import COMPUTED_METRICS, METRICS, RECORDED_ELSEWHERE, Found
from recjury.records import (
    JSON,
    PERSUASIVENESS,
    PERSUASIVENESS_SCALE,
    ConversationRecord,
    Ending,
    Metric,
    Rating,
    Stage,
    StageResult,
    Status,
    UserSimulator,
)

LOG = "log"
PERSUASIVE = "persuasiveness"
COMPUTED = "computed"
VERSION = 2


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
        user: dict[str, JSON] | None = None
        if self._user is not None:
            user = {key: value for key, value in self._user.settings.items() if key != "catalogue"}
            if rubric := getattr(self._user, "rubric", ""):  # only a model is asked by prompts
                user["persuasiveness"] = rubric
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
            return StageResult((_unasked(RECORDED_ELSEWHERE),))
        return StageResult((await self._user.persuasiveness(record.log),))


def computed(record: ConversationRecord) -> tuple[Rating, ...]:
    """The ratings of all metrics except Persuasiveness, in their order."""
    return tuple(_rating(each.metric, each.compute(record)) for each in COMPUTED_METRICS)


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
