"""Evaluators: all that rates logs."""

from collections.abc import Mapping

from recjury.judges.core import Core
from recjury.judges.criterion import Criterion, JudgePrompts, criteria_of, judge
from recjury.judges.evaluator import Context, Evaluator
from recjury.judges.outcome import Outcome
from recjury.judges.persuasiveness import Persuasiveness

EVALUATORS: Mapping[str, type[Evaluator]] = {
    "outcome": Outcome,
    "persuasiveness": Persuasiveness,
    "core": Core,
}
"""The evaluators that ship, by kind."""

__all__ = [
    "EVALUATORS",
    "Context",
    "Core",
    "Criterion",
    "Evaluator",
    "JudgePrompts",
    "Outcome",
    "Persuasiveness",
    "criteria_of",
    "judge",
]
