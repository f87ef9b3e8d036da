"""An own evaluator, guarded: its errors fail one evaluation and nothing else."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from math import inf

from recjury.errors import ConfigError, UnitFailed
from recjury.judges.config import EvaluatorContext
from recjury.judges.guideline import unmet
from recjury.judges.python.making import Made
from recjury.plugins import call_plugin, exception_message
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Level,
    Metric,
    Need,
    Rating,
    Stage,
    StageResult,
    Status,
    metric_id,
)

STAGE = "rate"
_THREADS = 8


class GuardedEvaluator:
    """Asks an own evaluator for ratings and compares them with the metrics that it declares.

    `evaluate` raises UnitFailed if the evaluator raises, or gives no ratings within `timeout`
    seconds. It also raises UnitFailed for a rating that cannot be used: of a metric that is not
    declared, outside the metric's scale, or missing. `rate` may be an `async def`, or a plain
    `def`, which runs in a thread.
    """

    kind = "python"
    stages = (Stage(name=STAGE),)

    def __init__(self, made: Made, context: EvaluatorContext, *, name: str, timeout: float):
        """Raises ConfigError if it needs a model and `context` has none."""
        self._rate = getattr(made.evaluator, "rate")  # noqa: B009 (it may be anything)
        for has_yield in (inspect.isasyncgenfunction, inspect.isgeneratorfunction):
            if has_yield(self._rate):
                raise ConfigError(f"{made.path} is not an evaluator: rate has a `yield`")
        needs = {need for metric in made.metrics for need in metric.needs}
        if context.gateway is None and needs & {Need.MODEL, Need.LOGPROBS}:
            raise ConfigError(f"{name} needs a model: add `model` to the campaign file")
        self._timeout = timeout
        self.name = name
        self.metrics: Sequence[Metric] = made.metrics
        self.settings: Mapping[str, JSON] = made.settings
        self.data: Mapping[str, JSON] = made.data

    @property
    def open_at_once(self) -> int | None:
        """The number of threads for a plain `def`; None (no limit) for an `async def`."""
        return None if inspect.iscoroutinefunction(self._rate) else _THREADS

    async def evaluate(
        self,
        stage: str,  # noqa: ARG002 (there is one)
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (there is nothing before)
    ) -> StageResult:
        """Return the ratings. If the log lacks what a metric needs, its rating has no score but a
        reason."""
        log = record.log
        lacking = {metric.id: unmet(metric, log) for metric in self.metrics}
        wanted = [metric for metric in self.metrics if not lacking[metric.id]]
        given = await self._asked(log) if wanted else ()
        ratings = self._checked(given, wanted, log)
        for metric in self.metrics:
            if lacking[metric.id]:
                ratings += self._unscored(metric, log, lacking[metric.id])
        return StageResult(tuple(ratings))

    async def _asked(self, log: ConversationLog) -> Sequence[object]:
        # A copy: the evaluator may change it, and the log must stay as it is.
        shown = log.model_copy(deep=True)
        given = await call_plugin(
            self._rate, shown, name=self.name, within=self._timeout, late="gave no ratings"
        )
        if not isinstance(given, list | tuple):
            raise UnitFailed(f"{self.name}: expected a list of Rating, got {type(given).__name__}")
        return given

    def _checked(
        self, given: Sequence[object], wanted: Sequence[Metric], log: ConversationLog
    ) -> list[Rating]:
        """The ratings of `wanted` metrics. Raises UnitFailed if one cannot be used."""
        declared = {metric.id: metric for metric in self.metrics}
        asked = {metric.id for metric in wanted}
        kept: list[Rating] = []
        for each in given:
            rating = self._usable(each, declared, log)
            if metric_id(rating.factor) in asked:
                kept.append(rating)
        self._complete(kept, wanted, log)
        return kept

    def _usable(
        self, given: object, declared: Mapping[str, Metric], log: ConversationLog
    ) -> Rating:
        """A rating of a declared metric, on its scale and level."""
        if not isinstance(given, Rating):
            raise UnitFailed(f"{self.name}: expected a Rating, got {type(given).__name__}")
        try:  # pydantic can make a model without validation
            rating = Rating.model_validate(given.model_dump(warnings=False))
            rating.model_dump_json().encode()
        except ValueError as error:
            problem = exception_message(error)
            raise UnitFailed(f"{self.name}: a rating cannot be used: {problem}") from None
        metric = declared.get(metric_id(rating.factor))
        if metric is None:
            known = ", ".join(declared)
            raise UnitFailed(
                f"{self.name} rated {rating.factor!r}, which it did not declare (it has: {known})"
            )
        high = inf if metric.high is None else metric.high
        if rating.score is not None and not metric.low <= rating.score <= high:
            raise UnitFailed(
                f"{self.name}: {metric.id} is {rating.score:g}, outside its scale "
                f"{metric.low:g} to {high:g}"
            )
        self._placed(rating, metric, log)
        return rating.model_copy(update={"low": metric.low, "high": metric.high, "calls": ()})

    def _placed(self, rating: Rating, metric: Metric, log: ConversationLog) -> None:
        """Raise UnitFailed if a rating has another level than its metric, or no valid turn."""
        if rating.level is not metric.level:
            raise UnitFailed(
                f"{self.name}: {metric.id} is declared for a {metric.level}, and a rating of it "
                f"is for a {rating.level}"
            )
        is_turn = metric.level is Level.TURN
        if is_turn != (rating.turn is not None):
            much = "names no turn" if is_turn else "names a turn"
            raise UnitFailed(f"{self.name}: a rating of {metric.id} {much}")
        if rating.turn is not None and rating.turn not in log.system_turn_indices:
            raise UnitFailed(
                f"{self.name}: {metric.id} is rated for turn {rating.turn}, which is not a "
                "system turn"
            )

    def _complete(
        self, ratings: Sequence[Rating], wanted: Sequence[Metric], log: ConversationLog
    ) -> None:
        """Raise UnitFailed if a place was rated twice, or if a metric has no rating."""
        places = [(rating.evaluator, rating.factor, rating.turn) for rating in ratings]
        if len(set(places)) < len(places):
            twice = next(place for place in places if places.count(place) > 1)
            raise UnitFailed(f"{self.name} rated {twice[1]!r} twice")
        rated = {metric_id(rating.factor) for rating in ratings}
        for metric in wanted:
            is_due = metric.level is Level.DIALOGUE or log.system_turn_indices
            if is_due and metric.id not in rated:
                raise UnitFailed(f"{self.name} gave no rating of {metric.id}")

    def _unscored(self, metric: Metric, log: ConversationLog, reason: str) -> Iterator[Rating]:
        for turn in log.system_turn_indices if metric.level is Level.TURN else (None,):
            yield Rating(
                evaluator=self.name,
                factor=metric.id,
                score=None,
                status=Status.NOT_APPLICABLE,
                reason=reason,
                level=metric.level,
                turn=turn,
                low=metric.low,
                high=metric.high,
            )
