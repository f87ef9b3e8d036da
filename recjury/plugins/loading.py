"""Loads plugins: classes and functions by import path, or by the name of an entry point."""

import importlib
import importlib.metadata
from collections.abc import Callable
from difflib import get_close_matches

from recjury.errors import ConfigError
from recjury.plugins.calling import describe_exception

Factory = Callable[..., object]


def load_factory(path: str, *, group: str, what: str) -> Factory:
    """The class or function at `path`: "module:Class", or the name of an entry point of `group`.

    `what` is used in messages ("recommender"). Raises ConfigError, which says what is missing.
    """
    return _from_module(path) if ":" in path else _from_entry_point(path, group, what)


def entry_point_names(group: str) -> tuple[str, ...]:
    """The names that installed packages offer in `group`, sorted."""
    return tuple(sorted(each.name for each in importlib.metadata.entry_points(group=group)))


def _from_module(path: str) -> Factory:
    name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), attribute)):
        raise ConfigError(
            f"expected module:Class with the module's name as `import` takes it, got {path!r}"
        )
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:  # a module may do anything while it is imported
        raise ConfigError(f"{path} cannot be imported: {describe_exception(error)}") from error
    found: object = getattr(module, attribute, None)
    if found is None:
        raise ConfigError(f"the module {name} has no {attribute}")
    if not callable(found):
        raise ConfigError(
            f"expected {path} to be a class or a function, got {type(found).__name__}"
        )
    return found


def _from_entry_point(name: str, group: str, what: str) -> Factory:
    found = importlib.metadata.entry_points(group=group, name=name)
    if not found:
        near = get_close_matches(name, entry_point_names(group), n=1)
        hint = f", did you mean {near[0]}?" if near else "; expected module:Class or its name"
        raise ConfigError(f"no installed package offers the {what} {name!r}{hint}")
    try:
        maker: object = next(iter(found)).load()
    except (Exception, SystemExit) as error:  # as above
        raise ConfigError(
            f"the {what} {name!r} cannot be loaded: {describe_exception(error)}"
        ) from error
    if not callable(maker):
        kind = type(maker).__name__
        raise ConfigError(f"expected the {what} {name!r} to be a class or a function, got {kind}")
    return maker
