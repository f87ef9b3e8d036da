"""Read a campaign file; each mistake in it becomes one line that says what to change."""

import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from recjury.campaign.config import CampaignConfig, EvaluationConfig, EvaluatorsOnly
from recjury.errors import ConfigError
from recjury.judges import EVALUATORS, EvaluatorEntry, read_entry
from recjury.mistakes import did_you_mean, mistake, shown_input
from recjury.plugins import Registry
from recjury.yaml_files import read_yaml

C = TypeVar("C", bound=CampaignConfig)

_FOR_EVALUATORS = "`model` and `evaluators`"
_MODELS = {"model": 1, "models": 2}
"""The keys of models, and where the model's provider stands in pydantic's place of a mistake."""


class _ModelsOnly(EvaluatorsOnly):
    """Without evaluators in the file there are none, so that no model need be called main."""

    evaluators: tuple[EvaluatorEntry, ...] = ()


def read_config(path: Path) -> CampaignConfig:
    """Read the campaign file at `path`. Raises ConfigError for any mistake in it."""
    return _read(path, CampaignConfig, "`scenarios` and `systems`")


def read_evaluators(path: Path | None, names: Sequence[str] = ()) -> EvaluationConfig:
    """Read the evaluators' configuration from a file that may have no scenarios and systems.

    With `names`, only those evaluators are returned: those of the file, or built-in ones. Raises
    ConfigError for any mistake in the file and for an unknown name.
    """
    given = EvaluatorsOnly() if path is None else _read(path, EvaluatorsOnly, _FOR_EVALUATORS)
    own = {entry.label: entry for entry in given.evaluators}
    _refuse_unknown(names, tuple(dict.fromkeys((*own, *EVALUATORS.names))))
    try:
        if names:
            chosen = [own.get(each) or read_entry(each) for each in names]
            ready = tuple(each.with_models(given.has_models) for each in chosen)
            given = given.model_copy(update={"evaluators": ready})
        return given.for_evaluators
    except ValidationError as error:
        raise ConfigError(explain(error)) from error


def read_models(path: Path) -> EvaluationConfig:
    """Return all models of a file, used or not, and the evaluators that it names.

    Raises ConfigError for any mistake in it.
    """
    return _read(path, _ModelsOnly, _FOR_EVALUATORS)


def _refuse_unknown(names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ConfigError(f"no evaluator is called {name!r}{hint} (known: {', '.join(known)})")


def _read(path: Path, kind: type[C], keys: str) -> C:
    content = read_yaml(path)
    if not isinstance(content, dict):
        found = "an empty file" if content is None else f"a {type(content).__name__}"
        raise ConfigError(f"{path}: expected keys such as {keys}, got {found}")
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{path}: {explain(error)}") from error


def explain(error: ValidationError) -> str:
    """One line about the first mistake, with the number of further mistakes."""
    details = _distinct(error.errors(include_url=False))
    unknown = [detail for detail in details if detail["type"] == "extra_forbidden"]
    first = (unknown or details)[0]
    line = _unknown_key(first) if unknown else _wrong_value(first)
    return line if len(details) == 1 else f"{line} (and {len(details) - 1} more)"


def _distinct(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """One error for each place.

    If a part of a list or mapping has an error, the list or mapping itself gets none.
    """
    places = {detail["loc"]: detail for detail in reversed(details)}
    inner = {place[:length] for place in places for length in range(len(place))}
    return [each for each in details if each is places[each["loc"]] and each["loc"] not in inner]


def _unknown_key(detail: ErrorDetails) -> str:
    *place, key = detail["loc"]
    known = sorted(_keys_at(place))
    where = f" under `{_dotted(place)}`" if place else ""
    hint = did_you_mean(key, known, least=0.0)
    if len(place) == 3 and place[0] == "systems" and place[2] == "python":
        hint += "; options of your class go under `options:`"
    return f"unknown key `{key}`{where}{hint} (known: {', '.join(known)})"


def _wrong_value(detail: ErrorDetails) -> str:
    kind, place, message = detail["type"], _dotted(detail["loc"]), mistake(detail)
    if kind in ("model_type", "model_attributes_type"):
        keys = ", ".join(sorted(_keys_at(list(detail["loc"]))))
        message = f"expected a mapping with keys such as {keys}, {shown_input(detail)}"
    elif place == "scenarios" and kind in ("tuple_type", "list_type"):
        message += "; write a list: `- {corpus: sample}`"
    if kind == "missing":
        return f"`{place}` {message}"
    return f"`{place}`: {message}" if place else message


def _dotted(place: object) -> str:
    """The keys of a place as in the file, without the provider that pydantic adds to a model."""
    assert isinstance(place, list | tuple)
    steps = [str(step) for step in place]
    provider = _MODELS.get(steps[0]) if steps else None
    if provider is not None:
        del steps[provider : provider + 1]
    return ".".join(steps)


def _keys_at(place: list[int | str]) -> set[str]:
    """The keys that are known at `place`, counted from the root of the file."""
    models: list[type[BaseModel]] = [CampaignConfig]
    if place[:1] == ["models"]:
        place = [place[0], *place[2:]]  # without the alias, which anyone may choose
    for step in place:
        models = [found for model in models for found in _step(model, step)]
    return {
        name
        for model in models
        for name, field in model.model_fields.items()
        if not field.exclude  # only from Python
    }


def _step(model: type[BaseModel], step: int | str) -> list[type[BaseModel]]:
    if isinstance(step, str) and step in model.model_fields:
        return list(_models_in(model.model_fields[step].annotation))
    # The step into a union names the chosen member's tag.
    tag = model.model_fields.get("kind") or model.model_fields.get("provider")
    if isinstance(step, str) and tag is not None and step not in get_args(tag.annotation):
        return []
    return [model]


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif isinstance(annotation, Registry):
        yield from (annotation.load(name) for name in annotation.built_in)
    elif get_origin(annotation) in (Union, types.UnionType, Annotated, tuple, list, dict, Mapping):
        for inner in get_args(annotation):
            yield from _models_in(inner)
