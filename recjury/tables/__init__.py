"""Tables and figures, how they are printed, and the analyses that make them."""

from recjury.tables.analysis import (
    Analysis,
    AnalysisInput,
    Findings,
    Input,
    LocalTrainer,
    Trainer,
    WorkProgress,
)
from recjury.tables.table import (
    Cell,
    Column,
    Estimate,
    Table,
    TableFormat,
    formatted,
    table_of,
)

__all__ = [
    "Analysis",
    "AnalysisInput",
    "Cell",
    "Column",
    "Estimate",
    "Findings",
    "Input",
    "LocalTrainer",
    "Table",
    "TableFormat",
    "Trainer",
    "WorkProgress",
    "formatted",
    "table_of",
]
