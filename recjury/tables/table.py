"""Tables: columns with units and intervals, rows, and how both are printed in six formats."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from html import escape
from typing import NamedTuple, TypeAlias

from recjury.records import JSON, Estimate
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


Cell: TypeAlias = str | int | float | Estimate | None
"""What stands in a row. None is printed as "-" and is null in JSON."""


class Column(NamedTuple):
    """A column: its key in JSON and CSV, its heading, and the decimals of its numbers.

    `unit` stands behind the heading ("%", "s"). Numbers of a column with the unit "%" are shares
    from 0 to 1, printed as percentages; in JSON and CSV they stay shares. A column with `detail` is
    only in JSON and CSV.
    """

    key: str
    heading: str = ""
    digits: int = 2
    unit: str = ""
    detail: bool = False

    @property
    def title(self) -> str:
        """The heading with the unit."""
        heading = self.heading or self.key.replace("_", " ")
        return f"{heading} ({self.unit})" if self.unit else heading

    def text(self, cell: Cell) -> str:
        """A cell as text: "0.20", or "0.20 [0.07, 0.35], n = 12" with an interval and n."""
        if isinstance(cell, Estimate):
            shown = self.text(cell.value)
            if cell.low is not None and cell.high is not None:
                shown += f" [{self.text(cell.low)}, {self.text(cell.high)}]"
            return shown if cell.n is None else f"{shown}, n = {cell.n}"
        if cell is None:
            return MISSING
        if isinstance(cell, str):
            return printable(cell)
        number = cell * 100 if self.unit == "%" else cell
        return f"{number:,}" if isinstance(number, int) else f"{number:.{self.digits}f}"


class Table(NamedTuple):
    """A table with a name, which is its key in JSON and its file's name.

    `notes` are printed below it: what was left out, what an abbreviation means, where published
    values are from. A table with `detail` is only in JSON and in files.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    detail: bool = False

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of the columns that are printed."""
        return tuple(column.title for column in self.columns if not column.detail)

    @property
    def lines(self) -> Iterator[list[str]]:
        """The rows as text, without details."""
        for row in self.rows:
            cells = zip(self.columns, row, strict=True)
            yield [column.text(cell) for column, cell in cells if not column.detail]

    @property
    def alignments(self) -> list[str]:
        """How the columns that are printed are aligned: "left" for text, "right" for numbers."""
        shown = [place for place, column in enumerate(self.columns) if not column.detail]
        texts = {place for place in shown if all(isinstance(row[place], str) for row in self.rows)}
        return ["left" if place in texts | {shown[0]} else "right" for place in shown]

    def as_json(self) -> list[dict[str, JSON]]:
        """A mapping for each row; an estimate is a mapping itself."""
        return [
            {
                column.key: cell.as_json() if isinstance(cell, Estimate) else cell
                for column, cell in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]

    def _repr_html_(self) -> str:
        """The table as notebooks show it."""
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        caption = f"<p><b>{escape(self.title or self.name)}</b></p>"
        return caption + formatted(self, TableFormat.HTML) + notes


def table_of(
    name: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Cell]],
    *,
    title: str = "",
    notes: Sequence[str] = (),
    detail: bool = False,
) -> Table:
    """A table of rows by column key; what a row lacks is None."""
    cells = tuple(tuple(row.get(column.key) for column in columns) for row in rows)
    return Table(name, tuple(columns), cells, title, tuple(notes), detail)


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
        colalign=table.alignments,
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
