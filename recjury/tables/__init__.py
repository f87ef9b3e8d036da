"""Tables and figures, how they are shown, and the analyses that make them."""

from recjury.tables.analysis import Analysis, AnalysisInput, Findings, Input
from recjury.tables.figure import (
    GRID,
    INK,
    PALETTE,
    Axis,
    Box,
    Figure,
    Label,
    Mark,
    Panel,
    Point,
    Series,
    Style,
    Tick,
    interval,
    rows,
    style,
)
from recjury.tables.figure_files import save
from recjury.tables.radar import radar
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
    "GRID",
    "INK",
    "PALETTE",
    "Analysis",
    "AnalysisInput",
    "Axis",
    "Box",
    "Cell",
    "Column",
    "Estimate",
    "Figure",
    "Findings",
    "Input",
    "Label",
    "Mark",
    "Panel",
    "Point",
    "Series",
    "Style",
    "Table",
    "TableFormat",
    "Tick",
    "formatted",
    "interval",
    "radar",
    "rows",
    "save",
    "style",
    "svg",
    "table_of",
]
