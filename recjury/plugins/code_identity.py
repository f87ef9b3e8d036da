"""The identity of a plugin: a digest of its source, and its settings as JSON."""

import inspect
import uuid
from collections.abc import Mapping

import orjson

from recjury.errors import ConfigError
from recjury.plugins.calling import describe_exception
from recjury.records import JSON, digest

_named: dict[int, tuple[object, str]] = {}  # keeps the objects, so that no other has their ids


def process_identity(thing: object) -> str:
    """The identity of a `thing` without source: constant in this process, new in any other."""
    _, name = _named.setdefault(id(thing), (thing, f"of this process only: {uuid.uuid4().hex}"))
    return name


def source_digest(maker: object) -> str | None:
    """A digest of the source of the module that defines a class or function.

    What is typed into an interactive session has no module source: then the source of the
    function, or of all methods of the class, is used. None if there is no source at all.
    """
    try:
        return digest(inspect.getsource(inspect.getmodule(maker) or maker))  # type: ignore[arg-type]
    except (OSError, TypeError):  # built in, or made while running
        pass
    parts = _functions(maker) if isinstance(maker, type) else [maker]
    try:
        texts = [inspect.getsource(part) for part in parts]  # type: ignore[arg-type]
    except (OSError, TypeError):
        return None
    return digest(texts) if texts else None


def json_settings(values: Mapping[str, object], what: str) -> Mapping[str, JSON]:
    """`values` as JSON; a value of another type becomes its text.

    Raises ConfigError, which begins with `what`, for values that cannot be stored.
    """
    try:
        plain: dict[str, JSON] = orjson.loads(
            orjson.dumps(dict(values), default=_described, option=orjson.OPT_NON_STR_KEYS)
        )
    except TypeError as error:  # lone surrogates, integers beyond 64 bits, circles
        raise ConfigError(
            f"{what} cannot be stored as JSON: {describe_exception(error)}"
        ) from error
    return plain


def _functions(kind: type) -> list[object]:
    return [
        member
        for each in kind.__mro__
        if each is not object
        for member in vars(each).values()
        if inspect.isfunction(member)
    ]


def _described(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)
