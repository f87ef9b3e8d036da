"""An own evaluator, guarded: its errors fail one evaluation and nothing else."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from recjury.errors import ConfigError, UnitFailed
from recjury.judges.evaluator import Evaluator
from recjury.judges.guideline import unmet
from recjury.judges.python.loading import LoadedEvaluator, class_metrics, given, make
from recjury.judges.python.rating_check import RatingCheck
from recjury.plugins import TIMEOUT, call_plugin
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Evidence,
    Level,
    Metric,
    Need,
    Rating,
    RatingSubject,
    StageResult,
    Status,
)

_THREADS = 8


class PythonEvaluator(Evaluator):
    """Your own evaluator: `path` is "module:Class" or an entry point's name.

    It is made as `Class(**options)`, and guarded: its errors fail one evaluation and nothing else.
    `timeout` is in seconds, for one log. `rate` may be an `async def`, or a plain `def`, which runs
    in a thread.
    """

    kind: Literal["python"] = "python"
    path: str = Field(min_length=1)
    options: dict[str, object] = Field(default_factory=dict)
    timeout: float = Field(default=TIMEOUT, gt=0, allow_inf_nan=False)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that its class declares, or else an instance. Raises ConfigError."""
        return class_metrics(self.path) or self._own.metrics

    @property
    def open_at_once(self) -> int | None:
        """The number of threads for a plain `def`; None (no limit) for an `async def`."""
        return None if inspect.iscoroutinefunction(self._own_rate) else _THREADS

    @property
    def settings(self) -> Mapping[str, JSON]:
        """What it was made from."""
        return self._own.settings

    @property
    def data(self) -> Mapping[str, JSON]:
        """The corpus, if it was made with it."""
        return self._own.data

    async def evaluate(
        self,
        stage: str,  # noqa: ARG002 (there is one)
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (there is nothing before)
    ) -> StageResult:
        """Return the ratings, and the evidence that `rate` returned among them.

        If the log lacks what a metric needs, its rating has no score but a reason.
        """
        log, metrics = record.log, self._own.metrics
        lacking = {metric.id: unmet(metric, log) for metric in metrics}
        wanted = [metric for metric in metrics if not lacking[metric.id]]
        given = await self._rate(log) if wanted else ()
        evidence = [each for each in given if isinstance(each, Evidence)]
        check = RatingCheck(self.label, metrics, log)
        ratings = check.checked([each for each in given if not isinstance(each, Evidence)], wanted)
        for metric in metrics:
            if lacking[metric.id]:
                ratings += _unscored(self.label, metric, log, lacking[metric.id])
        return StageResult(tuple(ratings), evidence=check.checked_evidence(evidence))

    async def _rate(self, log: ConversationLog) -> Sequence[object]:
        # A copy: the evaluator may change it, and the log must stay as it is.
        given = await call_plugin(
            self._own_rate,
            log.model_copy(deep=True),
            name=self.label,
            within=self.timeout,
            late="gave no ratings",
        )
        if not isinstance(given, list | tuple):
            raise UnitFailed(f"{self.label}: expected a list of Rating, got {type(given).__name__}")
        return given

    def _prepare(self) -> None:
        """Raise ConfigError if the object is not an evaluator, or needs a model."""
        for has_yield in (inspect.isasyncgenfunction, inspect.isgeneratorfunction):
            if has_yield(self._own_rate):
                raise ConfigError(f"{self._own.path} is not an evaluator: rate has a `yield`")
        needs = {need for metric in self._own.metrics for need in metric.needs}
        if not self._context.models and needs & {Need.MODEL, Need.LOGPROBS}:
            raise ConfigError(f"{self.label} needs a model: add `model` to the campaign file")

    @property
    def _own_rate(self) -> Callable[..., object]:
        rate: Callable[..., object] = getattr(self._own.evaluator, "rate")  # noqa: B009
        return rate

    @cached_property
    def _own(self) -> LoadedEvaluator:
        return make(self.path, self.options, self._context)


class InstanceEvaluator(PythonEvaluator):
    """An evaluator object, given through the Python interface."""

    instance: Any = Field(exclude=True, repr=False)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that it declares. Raises ConfigError."""
        return self._own.metrics

    @cached_property
    def _own(self) -> LoadedEvaluator:
        return given(self.instance)


def of_instance(instance: object, name: str = "") -> InstanceEvaluator:
    """The entry of an evaluator object.

    Its default name is its own, if it has one, or that of its class. Raises ValueError for a class.
    """
    if isinstance(instance, type):
        raise ValueError(f"{instance.__name__} is a class: give an instance, {instance.__name__}()")
    kind = type(instance)
    own: object = getattr(instance, "name", "")
    plain = own if isinstance(own, str) and own else kind.__name__.lower()
    return InstanceEvaluator(
        name=name or re.sub("[^A-Za-z0-9_-]", "-", plain).strip("-_"),
        path=f"{kind.__module__}:{kind.__qualname__}",
        instance=instance,
    )


def _unscored(name: str, metric: Metric, log: ConversationLog, reason: str) -> Iterator[Rating]:
    for turn in log.system_turn_indices if metric.level is Level.TURN else (None,):
        subject = RatingSubject(
            evaluator=name, factor=metric.id, low=metric.low, high=metric.high, turn=turn
        )
        yield subject.unscored(Status.NOT_APPLICABLE, reason)
