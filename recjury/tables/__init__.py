"""Tables and figures, how they are shown, and the analyses that make them."""

from recjury.tables.analysis import Analysis, AnalysisInput, Findings, Input
from recjury.tables.figure import Figure
from recjury.tables.figure_files import save
from recjury.tables.svg import svg
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
    "Figure",
    "Findings",
    "Input",
    "Table",
    "TableFormat",
    "formatted",
    "save",
    "svg",
    "table_of",
]
