"""A mistake in settings, in one line: the key, what is wrong with it, and the nearest key."""

from collections.abc import Mapping
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from recjury.errors import UserError
from recjury.files import nearest

R = TypeVar("R", bound=BaseModel)

GONE = {
    "simulator": "`session` has the rounds, `users: [{kind: llm, ...}]` the user",
    "user": "`users` is a list: users: [{kind: llm, persona: ...}]",
    "stop": "campaigns do not stop early: `compare` says how many more scenarios would decide",
    "limits": "`concurrency` of a model or a system",
    "concurrency": "`concurrency` of a model or a system",
    "data": "`corpus` names the folder",
    "outage_patience": "`patience`",
    "retries": "`patience` says how long a call is tried",
    "price_cached": "`price_in`",
    "json_mode": "nothing: the form is asked for, and dropped where an endpoint refuses it",
    "api_key": "`key_env` names the variable that holds the key",
    "path": "`kind: module:name`",
    "options": "the settings stand beside `kind`",
    "declares": "nothing: no acts are declared",
    "unique_values": "`session.block_values`",
    "combine": "`routes` gives a factor one judge; otherwise all judges rate all factors",
    "routing": "`routes`",
}
"""Keys of version 0.2 that are gone, and what replaces them."""

_EXPECTED = {
    "keys and their values": ("dict_type", "model_type"),
    "a whole number": ("int_type", "int_parsing", "int_from_float"),
    "a number": ("float_type", "float_parsing"),
    "true or false": ("bool_type", "bool_parsing"),
    "a text": ("string_type",),
    "a list": ("list_type", "tuple_type"),
    "at least one": ("too_short",),
}
_MESSAGES = {kind: f"expected {what}" for what, kinds in _EXPECTED.items() for kind in kinds}
"""In place of pydantic's words for Python's types."""


def first_mistake(error: ValidationError, kind: type[BaseModel]) -> tuple[list[str | int], str]:
    """The keys that lead to the first mistake, and what is wrong there."""
    errors = error.errors()
    unknown = (each for each in errors if each["type"] == "extra_forbidden")
    first = next(unknown, errors[0])  # a misspelt key explains why another one is missing
    keys = list(first["loc"])
    if first["type"] == "extra_forbidden":
        return keys, _unknown(str(keys[-1]), _fields_at(kind, keys[:-1]))
    if first["type"] == "missing":
        return keys[:-1], f"`{keys[-1]}` is missing"
    message = _MESSAGES.get(first["type"], str(first["msg"]))
    message = message.removeprefix("Value error, ").replace("Input should be ", "Expected ")
    got = "" if first["type"] == "value_error" else f", got {_short(first['input'])}"
    return keys, f"{message[0].lower()}{message[1:]}{got}"


def made(kind: type[R], settings: Mapping[str, Any]) -> R:
    """The record of these settings. Raises Mistake."""
    try:
        return kind.model_validate(dict(settings))
    except ValidationError as error:
        raise Mistake(*first_mistake(error, kind)) from None


class Mistake(UserError):
    """A mistake at a key of settings; whoever knows where they stand adds file and line."""

    def __init__(self, keys: list[str | int], message: str):
        """`keys` lead from the settings to the mistake."""
        super().__init__(f"{'.'.join(map(str, keys))}: {message}")
        self.keys, self.message = keys, message


def _unknown(key: str, known: set[str]) -> str:
    if key in GONE and key not in known:
        return f"this key is gone; instead: {GONE[key]}"
    near = nearest(key, known)
    return f"there is no such key{near or ': there are ' + ', '.join(sorted(known))}"


def _fields_at(kind: type[BaseModel], keys: list[str | int]) -> set[str]:
    """The keys that a record knows where `keys` lead."""
    found: Any = kind
    for key in keys:
        found = _inner(found, key)
    model = _model_in(found)
    return set(model.model_fields) if model else set()


def _inner(annotation: Any, key: str | int) -> Any:
    """What stands under a key of a record, a mapping or a list."""
    if model := _model_in(annotation, deep=False):
        field = model.model_fields.get(str(key))
        return field.annotation if field else None
    inner = [each for each in get_args(annotation) if each is not Ellipsis]
    return inner[-1] if inner else None


def _model_in(annotation: Any, *, deep: bool = True) -> type[BaseModel] | None:
    """The record that an annotation is, or may be (`Record | None`); with `deep`, or holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if not deep and get_origin(annotation) in (dict, list, tuple):
        return None
    inner = (_model_in(each, deep=deep) for each in get_args(annotation))
    return next((found for found in inner if found), None)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
