"""What foreign code is identified by: its source, and settings as JSON has them."""

import inspect
import uuid
from collections.abc import Mapping

import orjson

from recjury.errors import ConfigError
from recjury.plugins.telling import describe_exception
from recjury.records import JSON, digest

_named: dict[int, tuple[object, str]] = {}  # keeps the objects, so that no other has their ids


def process_identity(thing: object) -> str:
    """What `thing` is called where it has no source: the same in this process, new in any other."""
    _, name = _named.setdefault(id(thing), (thing, f"of this process only: {uuid.uuid4().hex}"))
    return name


def source_digest(maker: object) -> str | None:
    """A digest of the module that a class or function is from: other code is another thing.

    Of what was typed into a session there is no module to read: it is the source of the function,
    or of all methods of the class. None where there is no source at all.
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
    """`values` as JSON has them; what it has no word for, by its text.

    Raises ConfigError, beginning with `what`, for values that cannot be kept.
    """
    try:
        plain: dict[str, JSON] = orjson.loads(
            orjson.dumps(dict(values), default=_described, option=orjson.OPT_NON_STR_KEYS)
        )
    except TypeError as error:  # half characters, whole numbers of more than 64 bits, circles
        raise ConfigError(f"{what} cannot be kept as JSON: {describe_exception(error)}") from error
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
