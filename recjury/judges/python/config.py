"""Campaign-file entries of own evaluators: named by a path, or given as an object."""

import re
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from recjury.judges.config import EvaluatorConfig, EvaluatorContext
from recjury.judges.python.evaluator import GuardedEvaluator
from recjury.judges.python.making import Made, class_metrics, given, make
from recjury.plugins import TIMEOUT
from recjury.records import Metric

ENTRY_POINTS = "recjury.evaluators"


class PythonConfig(EvaluatorConfig):
    """An own Python evaluator: `path` is "module:Class" or an entry point's name.

    It is made as `Class(**options)`. `timeout` is in seconds, for one log.
    """

    kind: Literal["python"] = "python"
    path: str = Field(min_length=1)
    options: dict[str, object] = Field(default_factory=dict)
    timeout: float = Field(default=TIMEOUT, gt=0, allow_inf_nan=False)

    def metrics(self, models: bool) -> tuple[Metric, ...]:  # noqa: ARG002 (always the same)
        """The metrics that its class declares, or else an instance. Raises ConfigError."""
        declared = class_metrics(self.path, ENTRY_POINTS)
        if declared is not None:
            return declared
        return self._made(EvaluatorContext()).metrics

    def build(self, context: EvaluatorContext) -> GuardedEvaluator:
        """Build the evaluator, guarded.

        Raises ConfigError if the object is not an evaluator, or needs a model.
        """
        return GuardedEvaluator(self._made(context), context, name=self.label, timeout=self.timeout)

    def _made(self, context: EvaluatorContext) -> Made:
        return make(self.path, ENTRY_POINTS, self.options, context)


class InstanceConfig(PythonConfig):
    """An evaluator object, given through the Python interface."""

    instance: Any = Field(exclude=True, repr=False)

    @cached_property
    def _given(self) -> Made:
        return given(self.instance)

    def metrics(self, models: bool) -> tuple[Metric, ...]:  # noqa: ARG002 (always the same)
        """The metrics that it declares. Raises ConfigError."""
        return self._given.metrics

    def _made(self, context: EvaluatorContext) -> Made:  # noqa: ARG002 (it exists already)
        return self._given


def of_instance(instance: object, name: str = "") -> InstanceConfig:
    """The entry of an evaluator object.

    Its default name is its own, if it has one, or that of its class. Raises ValueError for a class.
    """
    if isinstance(instance, type):
        raise ValueError(f"{instance.__name__} is a class: give an instance, {instance.__name__}()")
    kind = type(instance)
    own: object = getattr(instance, "name", "")
    plain = own if isinstance(own, str) and own else kind.__name__.lower()
    return InstanceConfig(
        name=name or re.sub("[^A-Za-z0-9_-]", "-", plain).strip("-_"),
        path=f"{kind.__module__}:{kind.__qualname__}",
        instance=instance,
    )
