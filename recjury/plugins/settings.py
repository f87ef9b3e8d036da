"""Settings by name, as `--set` and keyword arguments give them, for a pydantic class."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails

from recjury.errors import ConfigError

ModelT = TypeVar("ModelT", bound=BaseModel)


def _several(value: object) -> object:
    return [value] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""Names in a setting: one of them stands for a list of one."""


def with_settings(kind: type[ModelT], name: str, settings: Mapping[str, object]) -> ModelT:
    """A `kind`, which is called `name`, with these settings.

    Raises ConfigError for an unknown setting, with the most similar one, and for a wrong value.
    """
    for setting in settings:
        if setting not in kind.model_fields:
            near = get_close_matches(setting, kind.model_fields, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            known = ", ".join(kind.model_fields) or "none"
            raise ConfigError(f"{name} has no setting {setting!r}{hint} (settings: {known})")
    try:
        return kind.model_validate(dict(settings))
    except ValidationError as error:
        raise ConfigError(f"{name}: {_explained(error.errors(include_url=False)[0])}") from None


def _explained(detail: ErrorDetails) -> str:
    place = ".".join(map(str, detail["loc"]))
    if detail["type"] == "value_error":
        message = str(detail["ctx"]["error"])
        return f"{place}: {message}" if place else message
    if detail["type"] == "missing":
        return f"{place} is missing: give it with --set {place}=VALUE"
    message = detail["msg"]
    return f"{place}: {message[0].lower()}{message[1:]}, got {detail['input']!r}"
