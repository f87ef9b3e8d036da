"""Scorers of replies held against people: correlations with ratings, and robustness."""

from recjury.agreement.replies.agreement import AgreementTable, ScorerAgreement, agreement_table
from recjury.agreement.replies.registry import SCORERS, ScorerContext, ScorerEntry, chosen
from recjury.agreement.replies.robustness import RobustnessTable, robustness_table
from recjury.agreement.replies.rows import SETS, RatedRow, RowSubset, read_rows_of, subsets_of
from recjury.agreement.replies.scoring import ScoredRows, ScoringStep, margins, score_rows

__all__ = [
    "SCORERS",
    "SETS",
    "AgreementTable",
    "RatedRow",
    "RobustnessTable",
    "RowSubset",
    "ScoredRows",
    "ScorerAgreement",
    "ScorerContext",
    "ScorerEntry",
    "ScoringStep",
    "agreement_table",
    "chosen",
    "margins",
    "read_rows_of",
    "robustness_table",
    "score_rows",
    "subsets_of",
]
