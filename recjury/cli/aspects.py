"""Aspects, as they are named on a command line."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recjury.records import Aspect


def aspect_named(name: str) -> "Aspect":
    """The aspect of that name; raises ConfigError for any other."""
    from recjury.errors import ConfigError
    from recjury.records import Aspect

    try:
        return Aspect(name.strip().lower().replace("-", "_"))
    except ValueError:
        raise ConfigError(f"{name!r} is no aspect: expected {', '.join(Aspect)}") from None
