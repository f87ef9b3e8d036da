"""Tables: columns with units and intervals, rows, and how both are printed in six formats."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from recjury.records import JSON
from recjury.safe_text import printable

MISSING = "-"
"""What stands in a cell without a value."""


class TableFormat(StrEnum):
    """How tables are printed."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    HTML = "html"


class Estimate(NamedTuple):
    """A value and its 95 % interval; the ends are None where it has none."""

    value: float | None
    low: float | None = None
    high: float | None = None


Cell: TypeAlias = str | int | float | Estimate | None
"""What stands in a row. None is printed as "-" and is null in JSON."""


class Column(NamedTuple):
    """A column: its key in JSON and CSV, its heading, and the decimals of its numbers.

    `unit` stands behind the heading ("%", "s"). Numbers of a column with the unit "%" are shares
    from 0 to 1, printed as percentages; in JSON and CSV they stay shares.
    """

    key: str
    heading: str = ""
    digits: int = 2
    unit: str = ""

    @property
    def title(self) -> str:
        """The heading with the unit."""
        heading = self.heading or self.key.replace("_", " ")
        return f"{heading} ({self.unit})" if self.unit else heading

    def text(self, cell: Cell) -> str:
        """A cell as text: "0.20", or "0.20 [0.07, 0.35]" with an interval."""
        if isinstance(cell, Estimate):
            shown = self.text(cell.value)
            if cell.low is None or cell.high is None:
                return shown
            return f"{shown} [{self.text(cell.low)}, {self.text(cell.high)}]"
        if cell is None:
            return MISSING
        if isinstance(cell, str):
            return printable(cell)
        number = cell * 100 if self.unit == "%" else cell
        return f"{number:,}" if isinstance(number, int) else f"{number:.{self.digits}f}"


class Table(NamedTuple):
    """A table with a name, which is its key in JSON and its file's name.

    `notes` are printed below it: what was left out, what an abbreviation means, where published
    values are from.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of the columns."""
        return tuple(column.title for column in self.columns)

    @property
    def lines(self) -> Iterator[list[str]]:
        """The rows as text."""
        for row in self.rows:
            yield [column.text(cell) for column, cell in zip(self.columns, row, strict=True)]

    def as_json(self) -> list[dict[str, JSON]]:
        """A mapping for each row; an estimate is a mapping with value, low and high."""
        return [
            {
                column.key: cell._asdict() if isinstance(cell, Estimate) else cell
                for column, cell in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]


def table_of(
    name: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Cell]],
    *,
    title: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """A table of rows by column key; what a row lacks is None."""
    cells = tuple(tuple(row.get(column.key) for column in columns) for row in rows)
    return Table(name, tuple(columns), cells, title, tuple(notes))


def formatted(table: Table, form: TableFormat) -> str:
    """The table as CSV, Markdown, LaTeX (booktabs) or HTML, with a line break at the end.

    CSV has full numbers, and two more columns for each one with intervals (KEY_low, KEY_high).
    Raises ValueError for TEXT and JSON, which are printed for all tables at once.
    """
    if form is TableFormat.CSV:
        return _csv(table)
    from tabulate import tabulate

    kinds = {
        TableFormat.MARKDOWN: "github",
        TableFormat.LATEX: "latex_booktabs",
        TableFormat.HTML: "html",
    }
    if form not in kinds:
        raise ValueError(f"{form} is not a format of one table")
    body = tabulate(
        list(table.lines),
        headers=list(table.headings),
        tablefmt=kinds[form],
        disable_numparse=True,
        colalign=["left", *["right"] * (len(table.columns) - 1)],
    )
    return f"{body}\n"


def _csv(table: Table) -> str:
    has_interval = [
        any(isinstance(row[place], Estimate) for row in table.rows)
        for place in range(len(table.columns))
    ]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    keys: list[str] = []
    for column, several in zip(table.columns, has_interval, strict=True):
        keys += [column.key, f"{column.key}_low", f"{column.key}_high"] if several else [column.key]
    writer.writerow(keys)
    for row in table.rows:
        cells: list[object] = []
        for cell, several in zip(row, has_interval, strict=True):
            estimate = cell if isinstance(cell, Estimate) else Estimate(None)
            given = estimate if isinstance(cell, Estimate) else (cell, None, None)
            cells += given if several else [cell]
        writer.writerow(cells)
    return buffer.getvalue()
