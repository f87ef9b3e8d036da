"""Strict reading of CSV files with a heading; errors name the file and the line."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recjury.errors import DataError
from recjury.input_files import read_text

_MAX_BYTES = 64 * 2**20
TABS = "recjury-tabs"
"""Cells between tabs; quotation marks are text."""
csv.register_dialect(TABS, delimiter="\t", quoting=csv.QUOTE_NONE)


@dataclass(frozen=True, slots=True)
class CsvRow:
    """A row's cells by column; a cell that is missing is empty. `line` is its last line, from 1."""

    path: Path
    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        """The cell of a column; empty if the file does not have the column."""
        return self.cells.get(column) or ""

    def number(self, column: str) -> float:
        """A finite number. Raises DataError for anything else."""
        try:
            value = float(self[column])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.error(f"{column}: expected a number, got {self[column][:40]!r}")
        return value

    def count(self, column: str) -> int | None:
        """A whole number from 0; None for an empty cell. Raises DataError for anything else."""
        cell = self[column]
        if not cell:
            return None
        if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
            raise self.error(f"{column}: expected a whole number from 0, got {cell[:40]!r}")
        return int(cell)

    def error(self, message: str) -> DataError:
        """An error at this row."""
        return DataError(message, path=self.path, line=self.line)


def read_csv_rows(path: Path, needed: Sequence[str], dialect: str = "excel") -> Iterator[CsvRow]:
    """The rows below the heading, which has at least the columns `needed`.

    `dialect` may be `TABS`. Raises DataError if the file cannot be read, is not CSV in UTF-8, or
    lacks a column.
    """
    text = read_text(path, _MAX_BYTES)
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="", dialect=dialect)
    try:
        missing = [name for name in needed if name not in (reader.fieldnames or ())]
        if missing:
            raise DataError(f"has no column {missing[0]!r}", path=path)
        for row in reader:
            yield CsvRow(path, reader.line_num, row)
    except csv.Error as error:
        raise DataError(f"is not CSV: {error}", path=path) from None
