"""An own evaluator, guarded: its errors fail one evaluation and nothing else."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pydantic import Field, PrivateAttr, ValidationError

from recjury.errors import ConfigError, UnitFailed
from recjury.isolation import ProcessPool, ProcessSettings
from recjury.judges.evaluator import Evaluator, EvaluatorContext
from recjury.judges.guideline import unmet
from recjury.judges.python.loading import (
    OWN_EVALUATORS,
    LoadedEvaluator,
    class_metrics,
    given,
    make,
    takes,
)
from recjury.judges.python.rating_check import RatingCheck
from recjury.mistakes import first_mistake
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
    Record,
    StageResult,
    Status,
)

if TYPE_CHECKING:
    from recjury.corpora import Corpus

_THREADS = 8
_DESCRIBED: dict[str, Mapping[str, JSON]] = {}


class MadeEvaluator(Record):
    """What an evaluator declares, and all that can change its ratings (`settings`, `data`)."""

    metrics: tuple[Metric, ...]
    settings: Mapping[str, JSON]
    data: Mapping[str, JSON]
    is_async: bool


class EvaluatedLog(Record):
    """What an evaluator says of a log."""

    ratings: tuple[Rating, ...]
    evidence: tuple[Evidence, ...]


class PythonEvaluator(ProcessSettings, Evaluator):
    """Your own evaluator: `path` is "module:Class" or an entry point's name.

    It is made as `Class(**options)`, and guarded: its errors fail one evaluation and nothing else.
    `timeout` is in seconds, for one log. `rate` may be an `async def`, or a plain `def`, which runs
    in a thread.
    """

    kind: Literal["python"] = "python"
    path: str = Field(min_length=1)
    timeout: float = Field(default=TIMEOUT, gt=0, allow_inf_nan=False)

    _pool: ProcessPool | None = PrivateAttr(default=None)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that its class declares, or else an instance. Raises ConfigError."""
        if self.thread_reason:
            return class_metrics(self.path) or self._own.metrics
        return self._made.metrics

    @property
    def open_at_once(self) -> int | None:
        """The number of threads for a plain `def`; None (no limit) for an `async def`."""
        return None if self._made.is_async else _THREADS

    @property
    def settings(self) -> Mapping[str, JSON]:
        """What it was made from."""
        return self._made.settings

    @property
    def data(self) -> Mapping[str, JSON]:
        """The corpus, if it was made with it."""
        return self._made.data

    async def evaluate(
        self,
        stage: str,  # noqa: ARG002 (there is one)
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (there is nothing before)
    ) -> StageResult:
        """Return the ratings, and the evidence that `rate` returned among them.

        If the log lacks what a metric needs, its rating has no score but a reason.
        """
        log, metrics = record.log, self._made.metrics
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
        if self._pool is not None:
            result = await self._pool.answer(log.model_dump(mode="json"), EvaluatedLog)
            return (*result.ratings, *result.evidence)
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
        if self.thread_reason:
            self.check()
        else:
            self._pool = self._started()
        needs = {need for metric in self._made.metrics for need in metric.needs}
        if not self._context.models and needs & {Need.MODEL, Need.LOGPROBS}:
            raise ConfigError(f"{self.label} needs a model: add `model` to the campaign file")

    def check(self) -> None:
        """Raise ConfigError if the object, which is in this process, is not an evaluator."""
        for has_yield in (inspect.isasyncgenfunction, inspect.isgeneratorfunction):
            if has_yield(self._own_rate):
                raise ConfigError(f"{self._own.path} is not an evaluator: rate has a `yield`")

    def _started(self) -> ProcessPool:
        module = OWN_EVALUATORS.module(self.path)
        launch = self.launch(_MAKER, self.label, self._context.corpus, module)
        return ProcessPool(
            self.label,
            launch,
            processes=self.processes,
            seconds=self.timeout,
            late="gave no ratings",
        )

    @cached_property
    def _made(self) -> MadeEvaluator:
        """What is known of the object. Before it is prepared, another process is asked for that."""
        if self.thread_reason:
            own = self._own
            return MadeEvaluator(
                metrics=own.metrics,
                settings=own.settings,
                data=own.data,
                is_async=inspect.iscoroutinefunction(self._own_rate),
            )
        try:
            return MadeEvaluator.model_validate(
                self._described if self._pool is None else self._pool.settings
            )
        except ValidationError as error:
            raise ConfigError(f"{self.path} is not an evaluator: {first_mistake(error)}") from None

    @property
    def _described(self) -> Mapping[str, JSON]:
        key = repr((self.path, self.options, self.reads, self.environment))
        if key not in _DESCRIBED:
            pool = self._started()
            pool.stop()
            _DESCRIBED[key] = pool.settings
        return _DESCRIBED[key]

    @property
    def _own_rate(self) -> Callable[..., object]:
        rate: Callable[..., object] = getattr(self._own.evaluator, "rate")  # noqa: B009
        return rate

    @cached_property
    def _own(self) -> LoadedEvaluator:
        return make(self.path, self.options, self._context)


class ServedEvaluator:
    """An evaluator in a process of its own."""

    def __init__(self, entry: Mapping[str, object], corpus: "Corpus | None"):
        """Make it. Raises ConfigError."""
        if takes(OWN_EVALUATORS.load(str(entry["path"])), "gateway"):
            raise ConfigError(
                f"{entry['path']} takes the gateway, which a process of its own does not have: "
                "set `isolate: thread`"
            )
        # Recjury looks at the clock, because this process may be stuck.
        self._own = PythonEvaluator.model_validate({**entry, "isolate": "thread", "timeout": 1e9})
        self._own._context = EvaluatorContext(corpus)
        self._own.check()
        self.settings: Mapping[str, JSON] = self._own._made.model_dump(mode="json")

    async def answer(self, request: JSON) -> JSON:
        """The ratings of a log. Raises UnitFailed."""
        record = ConversationRecord(ConversationLog.model_validate(request))
        found = await self._own.evaluate("rate", record, {})
        rated = EvaluatedLog(ratings=found.ratings, evidence=found.evidence)
        answer: JSON = rated.model_dump(mode="json")
        return answer

    async def close(self) -> None:
        """An evaluator has nothing to close."""


_MAKER = f"{__name__}:{ServedEvaluator.__name__}"


class InstanceEvaluator(PythonEvaluator):
    """An evaluator object, given through the Python interface."""

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
