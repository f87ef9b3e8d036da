"""Makes objects of plugins' classes, and reads what they are and what identifies them.

Any attribute of a plugin may be a property that raises: every error becomes a ConfigError.
"""

from collections.abc import Mapping, Sequence

from recjury.errors import ConfigError, UserError
from recjury.plugins.calling import describe_exception
from recjury.plugins.code_identity import json_settings, process_identity, source_digest
from recjury.plugins.loading import Factory
from recjury.records import JSON

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
