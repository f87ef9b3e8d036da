"""Evaluators, which rate conversation logs: a file or a folder each."""

from recjury.judges.evaluator import Evaluator, EvaluatorContext
from recjury.judges.factor_rubric import FactorGuide, Rubric
from recjury.judges.registry import (
    EVALUATORS,
    EvaluatorEntry,
    ListedEvaluator,
    listed_evaluators,
    read_entry,
)

__all__ = [
    "EVALUATORS",
    "Evaluator",
    "EvaluatorContext",
    "EvaluatorEntry",
    "FactorGuide",
    "ListedEvaluator",
    "Rubric",
    "listed_evaluators",
    "read_entry",
]
