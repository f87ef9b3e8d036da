"""recjury from Python; `import recjury` has the same names."""

from recjury.api.evaluating import evaluate, judge
from recjury.api.stored import (
    Run,
    Stored,
    calls,
    compare,
    means,
    open,  # noqa: A004 (`recjury.open` reads well)
    ratings,
    statements,
    turns,
)

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
