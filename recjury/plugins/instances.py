"""Makes objects of plugins' classes, and reads what they are and what identifies them.

Any attribute of a plugin may be a property that raises: every error becomes a ConfigError.
"""

import inspect
import uuid
from collections.abc import Mapping, Sequence

import orjson

from recjury.errors import ConfigError, UserError
from recjury.plugins.calling import describe_exception
from recjury.plugins.loading import Factory
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


MISSING = object()
"""What `read_attribute` returns for an attribute that does not exist."""


def make_instance(factory: Factory, path: str, *arguments: object, **options: object) -> object:
    """`factory(*arguments, **options)`; `path` is the factory's, for messages.

    Raises ConfigError for what it raises, except for a UserError, which is raised unchanged.
    """
    try:
        return factory(*arguments, **options)
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{path} cannot be made: {describe_exception(error)}") from error


def class_path(instance: object) -> str:
    """ "module:Class" of an object."""
    kind = type(instance)
    return f"{kind.__module__}:{kind.__qualname__}"


def read_attribute(instance: object, name: str, path: str) -> object:
    """The attribute, or MISSING. Raises ConfigError if it cannot be read."""
    try:
        return getattr(instance, name, MISSING)
    except Exception as error:  # a property may do anything
        raise ConfigError(
            f"{path}: its {name} cannot be read: {describe_exception(error)}"
        ) from error


def require_parts(instance: object, parts: Sequence[str], path: str, what: str) -> None:
    """Raise ConfigError if the object lacks attributes that a `what` must have ("system")."""
    missing = [part for part in parts if read_attribute(instance, part, path) is MISSING]
    if missing:
        article = "an" if what[0] in "aeio" else "a"
        raise ConfigError(f"{path} is not {article} {what}: it has no {', '.join(missing)}")


def read_settings(instance: object, path: str) -> Mapping[str, JSON] | None:
    """The object's `settings` as JSON; None if it has none.

    Raises ConfigError for settings that are not a mapping or cannot be kept as JSON.
    """
    settings = read_attribute(instance, "settings", path)
    if settings is MISSING:
        return None
    if not isinstance(settings, Mapping):
        raise ConfigError(f"{path}: its settings must be a mapping, got {type(settings).__name__}")
    return json_settings(settings, f"{path}: its settings")


def made_identity(factory: Factory, path: str, options: Mapping[str, object]) -> dict[str, JSON]:
    """What identifies an object that `factory`, the one at `path`, made with `options`."""
    plain = json_settings(options, f"{path}: its options")
    return {"path": path, "code": source_digest(factory), "options": plain}


def given_identity(instance: object) -> dict[str, JSON]:
    """What identifies an existing object: its class, and the source of its class.

    Without a source it counts as another object in every process.
    """
    kind = type(instance)
    return {"path": class_path(instance), "code": source_digest(kind) or process_identity(kind)}
