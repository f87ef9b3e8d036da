"""recjury evaluates conversational recommender systems."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recjury.api import (
        Run,
        Stored,
        calls,
        compare,
        evaluate,
        judge,
        means,
        open,  # noqa: A004 (`recjury.open` reads well)
        ratings,
        statements,
        turns,
    )

__version__ = "0.3.0"

__all__ = [
    "Run",
    "Stored",
    "calls",
    "compare",
    "evaluate",
    "judge",
    "means",
    "open",
    "ratings",
    "statements",
    "turns",
]


def __getattr__(name: str) -> Any:
    """The names of `recjury.api`, which imports much, when they are first used."""
    if name in __all__:
        return getattr(import_module("recjury.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
