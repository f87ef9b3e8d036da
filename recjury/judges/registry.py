"""Every evaluator that a campaign file can name."""

from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple, cast

from pydantic import BeforeValidator, SerializeAsAny

from recjury.errors import ConfigError, UserError
from recjury.judges.evaluator import Evaluator
from recjury.judges.python.evaluator import PythonEvaluator, of_instance
from recjury.judges.python.loading import OWN_EVALUATORS
from recjury.plugins import Listed, Registry, read_attribute, validate_as
from recjury.records import Metric

EVALUATORS: Registry[type[Evaluator]] = Registry(
    OWN_EVALUATORS.kind,
    OWN_EVALUATORS.group,
    {
        "outcome": "recjury.judges.outcome.evaluator:OutcomeEvaluator",
        "offline": "recjury.judges.outcome.offline:OfflineEvaluator",
        "core": "recjury.judges.core.evaluator:CoreEvaluator",
        "face": "recjury.judges.face.evaluator:FaceEvaluator",
        "llm-direct": "recjury.judges.direct:DirectEvaluator",
        "llm-cot-icl": "recjury.judges.direct:CotIclEvaluator",
        "paireval": "recjury.judges.paireval.evaluator:PairEvaluator",
        "dialogue-quality": "recjury.judges.dialogue_quality.evaluator:QualityEvaluator",
        "g-eval": "recjury.judges.g_eval.evaluator:GEvaluator",
        "learned": "recjury.judges.learned.evaluator:LearnedEvaluator",
        "rubric": "recjury.judges.rubric.evaluator:RubricEvaluator",
        "python": "recjury.judges.python.evaluator:PythonEvaluator",
    },
)
"""The evaluators by kind."""


def read_entry(raw: object) -> Evaluator:
    """The evaluator of an entry of `evaluators`.

    A text is a kind; a mapping has the kind and its keys; anything else is an evaluator object.
    The kind of an own evaluator is "module:Class" or what an installed package offers: an
    `Evaluator` class with keys of its own, or a plain one, which is guarded (`PythonEvaluator`).
    Raises ValueError for an unknown kind, ValidationError for wrong keys, and ConfigError for a
    class that cannot be loaded or used.
    """
    if isinstance(raw, Evaluator):
        return raw
    if isinstance(raw, str):
        raw = {"kind": raw}
    if raw is None or isinstance(raw, int | float | list):
        raise ValueError(f"expected a kind of evaluator, or a mapping with its keys, got {raw!r}")
    if not isinstance(raw, Mapping):
        return of_instance(raw)
    kind = EVALUATORS.chosen(raw)
    keys = {key: value for key, value in raw.items() if key != "kind"}
    loaded: object = EVALUATORS.load(kind)
    if not isinstance(loaded, type) or not issubclass(loaded, Evaluator):
        own = {"path": kind, "name": kind.rpartition(":")[2], **keys}
        return validate_as(PythonEvaluator, "python", own)
    if lacks := sorted(loaded.__abstractmethods__):
        raise ConfigError(f"{kind} is not an evaluator: it has no {' and no '.join(lacks)}")
    return validate_as(loaded, loaded.model_fields["kind"].default, keys)


EvaluatorEntry = Annotated[SerializeAsAny[Evaluator], BeforeValidator(read_entry), EVALUATORS]
"""An entry of `evaluators` in a campaign file."""


class ListedEvaluator(NamedTuple):
    """An evaluator that a campaign file can name; its metrics, if they are known without a file.

    The metrics of user-defined rubrics and classes are defined in their files.
    """

    kind: str
    summary: str
    metrics: tuple[Metric, ...]


def listed_evaluators() -> tuple[ListedEvaluator, ...]:
    """Every kind, and then every entry point; one that cannot be used has the reason."""
    return tuple(map(_listed, EVALUATORS.listed()))


def of_file(entries: Iterable[Evaluator]) -> tuple[ListedEvaluator, ...]:
    """The evaluators of a campaign file by label."""
    return tuple(
        ListedEvaluator(
            entry.label, (type(entry).__doc__ or "").strip().partition("\n")[0], entry.metrics
        )
        for entry in entries
    )


def _listed(entry: Listed) -> ListedEvaluator:
    name, summary = entry.name, entry.problem or entry.summary
    try:
        metrics = read_attribute(read_entry(name), "metrics", name)
    except ValueError:  # it has a key without a default, such as a file
        return ListedEvaluator(name, summary, ())
    except UserError as problem:
        return ListedEvaluator(name, str(problem), ())
    return ListedEvaluator(name, summary, cast("tuple[Metric, ...]", metrics))
