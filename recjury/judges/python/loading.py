"""Make evaluators from own classes, or take given objects; with the settings that identify them."""

import inspect
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import orjson

from recjury.errors import ConfigError
from recjury.judges.evaluator import EvaluatorContext
from recjury.plugins import (
    MISSING,
    Factory,
    Registry,
    class_path,
    given_identity,
    made_identity,
    make_instance,
    process_identity,
    read_attribute,
    read_settings,
    redirect_stdout,
)
from recjury.records import JSON, Metric

OWN_EVALUATORS: Registry[Factory] = Registry("evaluator", "recjury.evaluators", {})
"""The evaluators of installed packages."""


class LoadedEvaluator(NamedTuple):
    """An own evaluator, the metrics that it declares, and everything that can change its ratings.

    These are its `settings`, and `data` of the corpus if it has a parameter for the corpus.
    """

    evaluator: object
    path: str
    metrics: tuple[Metric, ...]
    settings: Mapping[str, JSON]
    data: Mapping[str, JSON] = {}


def make(path: str, options: Mapping[str, object], context: EvaluatorContext) -> LoadedEvaluator:
    """Make `Class(**options)`; it is given `corpus` and `gateway` if it has such parameters.

    Raises ConfigError if it cannot be imported, cannot be made, or is not an evaluator; the message
    says what is missing.
    """
    with redirect_stdout():
        maker = OWN_EVALUATORS.load(path)
        around = {"corpus": context.corpus, "gateway": context.gateway}
        asked = {name: value for name, value in around.items() if takes(maker, name)}
        evaluator = make_instance(maker, path, **asked, **options)
        settings: dict[str, JSON] = {
            **made_identity(maker, path, options),
            "own": read_settings(evaluator, path),
        }
        if "gateway" in asked:
            settings["models"] = context.reply_settings(context.models)
        data: dict[str, JSON] = {}
        if "corpus" in asked and context.corpus is not None:
            data["catalogue"] = context.corpus.catalogue.digest
        return LoadedEvaluator(evaluator, path, _metrics(evaluator, path), settings, data)


def given(evaluator: object) -> LoadedEvaluator:
    """An evaluator object that was given.

    It is identified by its settings and the source of its class. If it has no `settings`, its
    attributes are used if they are plain JSON. Without settings or source it counts as another
    evaluator in every process. Raises ConfigError if it is not an evaluator.
    """
    path = class_path(evaluator)
    with redirect_stdout():
        own = read_settings(evaluator, path)
        settings: dict[str, JSON] = {
            **given_identity(evaluator),
            "own": own if own is not None else _attributes(evaluator),
        }
        return LoadedEvaluator(evaluator, path, _metrics(evaluator, path), settings)


def class_metrics(path: str) -> tuple[Metric, ...] | None:
    """The metrics that the class at `path` declares; None if only its instances declare them."""
    with redirect_stdout():
        maker = OWN_EVALUATORS.load(path)
        declared = inspect.getattr_static(maker, "metrics", None)
        is_declared = isinstance(declared, list | tuple)
        return _metrics(maker, path) if is_declared else None


def takes(maker: Factory, name: str) -> bool:
    """Whether a class or function has a parameter of this name."""
    try:
        return name in inspect.signature(maker).parameters
    except (TypeError, ValueError):  # built in
        return False


def _metrics(evaluator: object, path: str) -> tuple[Metric, ...]:
    found = read_attribute(evaluator, "metrics", path)
    if found is MISSING or not callable(getattr(evaluator, "rate", None)):
        missing = "metrics" if found is MISSING else "rate"
        raise ConfigError(f"{path} is not an evaluator: it has no {missing}")
    if not isinstance(found, Iterable):
        raise ConfigError(f"{path}: its metrics must be a list of Metric")
    metrics = tuple(found)
    for metric in metrics:
        if not isinstance(metric, Metric):
            raise ConfigError(
                f"{path}: its metrics must be a list of Metric, got {type(metric).__name__}"
            )
    ids = [metric.id for metric in metrics]
    if not ids:
        raise ConfigError(f"{path} is not an evaluator: it declares no metric")
    for each in ids:
        if ids.count(each) > 1:
            raise ConfigError(f"{path}: two of its metrics are called {each!r}")
    return metrics


def _attributes(evaluator: object) -> JSON:
    try:
        plain: JSON = orjson.loads(orjson.dumps(getattr(evaluator, "__dict__", {})))
    except TypeError:
        return process_identity(evaluator)
    return plain
