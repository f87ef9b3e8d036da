"""Settings by name, as `--set` and keyword arguments give them, for a pydantic class."""

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from recjury.errors import ConfigError
from recjury.mistakes import did_you_mean, first_mistake

ModelT = TypeVar("ModelT", bound=BaseModel)


def _several(value: object) -> object:
    return [value] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""Names in a setting: one of them stands for a list of one."""


def _not_empty(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty: fill it in, or leave it out")
    return value


def _no_truth_value(value: object) -> object:
    # In Python `true` is the number 1; to the author of a campaign file it is not.
    if isinstance(value, bool):
        raise ValueError(f"must be a number, got {value}")
    return value


NonEmpty = Annotated[str, AfterValidator(_not_empty)]
Seconds = Annotated[float, BeforeValidator(_no_truth_value), Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(_no_truth_value)]


def with_settings(kind: type[ModelT], name: str, settings: Mapping[str, object]) -> ModelT:
    """A `kind`, which is called `name`, with these settings.

    Raises ConfigError for an unknown setting, with the most similar one, and for a wrong value.
    """
    for setting in settings:
        if setting not in kind.model_fields:
            hint = did_you_mean(setting, kind.model_fields)
            known = ", ".join(kind.model_fields) or "none"
            raise ConfigError(f"{name} has no setting {setting!r}{hint} (settings: {known})")
    try:
        return kind.model_validate(dict(settings))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        missing = first["type"] == "missing"
        advice = f": give it with --set {place}=VALUE" if missing else ""
        raise ConfigError(f"{name}: {first_mistake(error)}{advice}") from None
