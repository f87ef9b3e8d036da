"""Tables and figures, how they are shown, and the analyses that make them."""

from recjury.tables.analysis import (
    Analysis,
    AnalysisInput,
    Findings,
    Input,
    LocalTrainer,
    Trainer,
    WorkProgress,
)
from recjury.tables.figure import Figure
from recjury.tables.pictures import picture
from recjury.tables.svg import svg
from recjury.tables.table import (
    Cell,
    Column,
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
    "Figure",
    "Findings",
    "Input",
    "LocalTrainer",
    "Table",
    "TableFormat",
    "Trainer",
    "WorkProgress",
    "formatted",
    "picture",
    "svg",
    "table_of",
]
