"""Makes objects of plugins' classes, and reads their attributes.

Any attribute of a plugin may be a property that raises: every error becomes a ConfigError.
"""

from collections.abc import Mapping

from recjury.errors import ConfigError, UserError
from recjury.plugins.calling import describe_exception
from recjury.plugins.code_identity import json_settings
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


def read_settings(instance: object, path: str) -> Mapping[str, JSON] | None:
    """The object's `settings` as JSON; None if it has none.

    Raises ConfigError for settings that are not a mapping or cannot be kept as JSON.
    """
    found = read_attribute(instance, "settings", path)
    if found is MISSING:
        return None
    if not isinstance(found, Mapping):
        raise ConfigError(f"{path}: its settings must be a mapping, got {type(found).__name__}")
    return json_settings(found, f"{path}: its settings")
