"""Evaluators, which rate conversation logs: a folder each, with its configuration."""

from recjury.judges.config import EvaluatorConfig, EvaluatorContext
from recjury.judges.core.factor_judge import FactorJudge
from recjury.judges.core.panel import Panel
from recjury.judges.core.rubric import FactorGuide, Rubric
from recjury.judges.registry import (
    BUILT_IN,
    EvaluatorEntry,
    Listed,
    installed,
    kinds,
    listed,
    read_entry,
)

__all__ = [
    "BUILT_IN",
    "EvaluatorConfig",
    "EvaluatorContext",
    "EvaluatorEntry",
    "FactorGuide",
    "FactorJudge",
    "Listed",
    "Panel",
    "Rubric",
    "installed",
    "kinds",
    "listed",
    "read_entry",
]
