"""recjury evaluates conversational recommender systems.

`evaluate` plays and rates a campaign, `judge` rates recorded conversations, and `open` opens a
store of earlier ones. What your own systems and evaluators need is in `recjury.records` and
`recjury.judges`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recjury.api import (
        Run,
        Stop,
        Stored,
        UserError,
        evaluate,
        evaluate_async,
        judge,
        judge_async,
        open,  # noqa: A004 (`recjury.open` reads well)
    )

__version__ = "0.3.0"

__all__ = [
    "Run",
    "Stop",
    "Stored",
    "UserError",
    "evaluate",
    "evaluate_async",
    "judge",
    "judge_async",
    "open",
]


def __getattr__(name: str) -> Any:
    """The names of `recjury.api`, which imports much, when they are first used."""
    if name in __all__:
        return getattr(import_module("recjury.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(
        ["__all__", "__doc__", "__file__", "__name__", "__path__", "__version__", *__all__]
    )
