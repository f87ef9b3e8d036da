"""recjury from Python; `import recjury` has the same names."""

from recjury.api.evaluating import evaluate, evaluate_async, judge, judge_async
from recjury.api.stored import Run, Stored, open  # noqa: A004 (`recjury.open` reads well)
from recjury.errors import Stop, UserError

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
