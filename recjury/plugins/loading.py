"""Imports plugins: classes and functions by import path, or by the name of an entry point."""

import importlib
import importlib.metadata
from collections.abc import Callable

from recjury.errors import ConfigError
from recjury.plugins.calling import describe_exception

Factory = Callable[..., object]


def import_factory(path: str) -> Factory:
    """The class or function at "module:Class". Raises ConfigError, which says what is missing."""
    name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), attribute)):
        raise ConfigError(
            f"expected module:Class with the module's name as `import` takes it, got {path!r}"
        )
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:  # a module may do anything while it is imported
        raise ConfigError(f"{path} cannot be imported: {describe_exception(error)}") from error
    factory: object = getattr(module, attribute, None)
    if factory is None:
        raise ConfigError(f"the module {name} has no {attribute}")
    return _callable(factory, path)


def load_entry_point(name: str, group: str, what: str) -> Factory:
    """What an installed package offers under this name; `what` is the word for it.

    Raises ConfigError if it cannot be loaded.
    """
    entry = next(iter(importlib.metadata.entry_points(group=group, name=name)))
    try:
        factory: object = entry.load()
    except (Exception, SystemExit) as error:  # as above
        raise ConfigError(
            f"the {what} {name!r} cannot be loaded: {describe_exception(error)}"
        ) from error
    return _callable(factory, f"the {what} {name!r}")


def _callable(factory: object, what: str) -> Factory:
    if not callable(factory):
        raise ConfigError(
            f"expected {what} to be a class or a function, got {type(factory).__name__}"
        )
    return factory
