"""Every evaluator that a campaign file can name: one line for each folder, and entry points."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, NamedTuple, get_args

from pydantic import Field

from recjury.errors import UserError
from recjury.judges.config import EvaluatorConfig
from recjury.judges.core.config import CoreConfig
from recjury.judges.dialogue_quality.config import QualityConfig
from recjury.judges.direct.config import CotIclConfig, DirectConfig
from recjury.judges.face.config import FaceConfig
from recjury.judges.g_eval.config import GEvalConfig
from recjury.judges.learned.config import LearnedConfig
from recjury.judges.outcome.config import OutcomeConfig
from recjury.judges.paireval.config import PairEvalConfig
from recjury.judges.python.config import ENTRY_POINTS, PythonConfig, of_instance
from recjury.judges.rubric.config import RubricConfig
from recjury.plugins import entry_point_names
from recjury.records import Metric

EvaluatorEntry = Annotated[
    OutcomeConfig
    | CoreConfig
    | FaceConfig
    | DirectConfig
    | CotIclConfig
    | PairEvalConfig
    | QualityConfig
    | GEvalConfig
    | LearnedConfig
    | RubricConfig
    | PythonConfig,
    Field(discriminator="kind"),
]
"""An entry of `evaluators` in a campaign file."""

BUILT_IN: tuple[type[EvaluatorConfig], ...] = get_args(get_args(EvaluatorEntry)[0])
"""The configurations of the evaluators in the package."""


def kinds() -> tuple[str, ...]:
    """All kinds, in the order in which they are listed."""
    return tuple(get_args(each.model_fields["kind"].annotation)[0] for each in BUILT_IN)


def installed() -> tuple[str, ...]:
    """The names of the evaluators that installed packages provide, sorted."""
    return entry_point_names(ENTRY_POINTS)


def read_entry(raw: object) -> object:
    """The entry in the form that `EvaluatorEntry` validates.

    A text is the name of a kind; an entry point's name is also a kind. An object that is neither
    text nor a mapping is an evaluator. Raises ValueError for an unknown kind.
    """
    if isinstance(raw, EvaluatorConfig):
        return raw
    if isinstance(raw, str):
        raw = {"kind": raw}
    if not isinstance(raw, Mapping):
        return raw if raw is None or isinstance(raw, int | float | list) else of_instance(raw)
    kind = raw.get("kind")
    if not isinstance(kind, str) or kind in kinds():
        return raw
    offered = installed()
    if kind in offered:
        return {"path": kind, "name": kind, **raw, "kind": "python"}
    known = (*kinds(), *offered)
    near = get_close_matches(kind, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"unknown evaluator {kind!r}{hint} (known: {', '.join(known)})")


class Listed(NamedTuple):
    """An evaluator that a campaign file can name; its metrics, if they are known without a file.

    The metrics of user-defined rubrics and classes are defined in their files.
    """

    kind: str
    summary: str
    metrics: tuple[Metric, ...]


def listed() -> tuple[Listed, ...]:
    """Every kind, and then every entry point; one that cannot be used has the reason."""
    shipped = (
        Listed(kind, _summary(each), _metrics(each))
        for kind, each in zip(kinds(), BUILT_IN, strict=True)
    )
    return (*shipped, *map(_offered, installed()))


def of_file(entries: Iterable[EvaluatorConfig], *, models: bool) -> tuple[Listed, ...]:
    """The evaluators of a campaign file by label; `models` is True if the file has any model."""
    return tuple(
        Listed(entry.label, _summary(type(entry)), entry.metrics(models)) for entry in entries
    )


def _metrics(config: type[EvaluatorConfig]) -> tuple[Metric, ...]:
    needs_more = any(
        field.is_required() for name, field in config.model_fields.items() if name != "kind"
    )
    return () if needs_more else config().metrics(models=False)  # type: ignore[call-arg]


def _offered(name: str) -> Listed:
    try:
        metrics = PythonConfig(path=name).metrics(models=False)
    except UserError as problem:
        return Listed(name, str(problem), ())
    return Listed(name, "From an installed package.", metrics)


def _summary(config: type[EvaluatorConfig]) -> str:
    return (config.__doc__ or "").strip().splitlines()[0]
