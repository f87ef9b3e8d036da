"""recjury from Python; `import recjury` offers the same names."""

from recjury.api.calls import evaluate, evaluate_async, judge, judge_async, open  # noqa: A004
from recjury.api.people import import_labels
from recjury.api.stored import Run, Stored

__all__ = [
    "Run",
    "Stored",
    "evaluate",
    "evaluate_async",
    "import_labels",
    "judge",
    "judge_async",
    "open",
]
