"""Read a campaign file; whatever is wrong with it becomes one line that says what to change."""

import difflib
import types
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from recjury.campaign.config import CampaignConfig
from recjury.errors import ConfigError


class _StrictLoader(yaml.SafeLoader):
    """YAML's safe loader, but a key that is written twice is an error, not an override."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            mark = node.start_mark
            raise yaml.constructor.ConstructorError(None, None, f"key {twice!r} stands twice", mark)
        return super().construct_mapping(node, deep=deep)


def read_config(path: Path) -> CampaignConfig:
    """The campaign file at `path`; raises ConfigError for anything that is wrong with it."""
    try:
        content = yaml.load(path.read_text("utf-8"), _StrictLoader)  # noqa: S506 (a SafeLoader)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text (byte {error.start})") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path}: is not YAML: {_first_line(error)}") from error
    if not isinstance(content, dict):
        found = "an empty file" if content is None else f"a {type(content).__name__}"
        raise ConfigError(f"{path}: expected keys such as `scenarios` and `systems`, got {found}")
    try:
        return CampaignConfig.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{path}: {explain(error)}") from error


def explain(error: ValidationError) -> str:
    """One line about the first thing that is wrong, and how many more there are."""
    details = error.errors(include_url=False)
    unknown = [detail for detail in details if detail["type"] == "extra_forbidden"]
    first = (unknown or details)[0]
    line = _unknown_key(first) if unknown else _wrong_value(first)
    return line if len(details) == 1 else f"{line} (and {len(details) - 1} more)"


def _unknown_key(detail: ErrorDetails) -> str:
    *place, key = detail["loc"]
    known = sorted(_keys_at(place))
    near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.0)
    where = f" under `{_dotted(place)}`" if place else ""
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return f"unknown key `{key}`{where}{hint} (known: {', '.join(known)})"


def _wrong_value(detail: ErrorDetails) -> str:
    place = _dotted(detail["loc"])
    if detail["type"] == "value_error":
        said = str(detail["ctx"]["error"])
        return f"`{place}`: {said}" if place else said
    if detail["type"] == "missing":
        return f"`{place}` is missing"
    shown = repr(detail["input"])
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return f"`{place}`: {detail['msg'][0].lower()}{detail['msg'][1:]}, got {shown}"


def _dotted(place: object) -> str:
    assert isinstance(place, list | tuple)
    return ".".join(str(step) for step in place)


def _keys_at(place: list[int | str]) -> set[str]:
    """The keys that are known where `place` leads, walked from the campaign's root."""
    models: list[type[BaseModel]] = [CampaignConfig]
    for step in place:
        models = [found for model in models for found in _step(model, step)]
    return {name for model in models for name in model.model_fields}


def _step(model: type[BaseModel], step: int | str) -> list[type[BaseModel]]:
    if isinstance(step, str) and step in model.model_fields:
        return list(_models_in(model.model_fields[step].annotation))
    kind = model.model_fields.get("kind")  # the step into a union names the chosen member's tag
    if isinstance(step, str) and kind is not None and step not in get_args(kind.annotation):
        return []
    return [model]


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, types.UnionType, Annotated, tuple, list, dict, Mapping):
        for inner in get_args(annotation):
            yield from _models_in(inner)


def _first_line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    line = f" (line {mark.line + 1})" if mark is not None else ""
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0] or "too deep"
    return f"{problem}{line}"
