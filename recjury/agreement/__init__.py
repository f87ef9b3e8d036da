"""Evaluators against people: labels, agreement, annotation tasks, scorers of replies."""

from recjury.agreement.agreement import (
    Agreements,
    AspectAgreement,
    Ceiling,
    Coefficients,
    agreements,
)
from recjury.agreement.label_sets import LabelSet
from recjury.agreement.scored_run import ScoredRun

__all__ = [
    "Agreements",
    "AspectAgreement",
    "Ceiling",
    "Coefficients",
    "LabelSet",
    "ScoredRun",
    "agreements",
]
