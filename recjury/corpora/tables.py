"""Rows of JSON lines, CSV and Parquet, each with its place for messages."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from recjury.errors import UserError
from recjury.files import read_text
from recjury.keys import one_line

SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet")
_SIGNS = (",", ";", "\t")
"""What divides the cells of CSV."""
_LONGEST = 2**30  # characters of a cell
_PARTS = ("|", ";")
"""What divides several values in a cell of CSV."""
_WHOLE = ("id", "title", "name", "plot", "description")
"""Columns that have one text."""


class TableRow(NamedTuple):
    """A row's values by column, without those that are empty."""

    where: str
    values: Mapping[str, Any]

    def error(self, message: str) -> UserError:
        """An error at the row: `items.csv:3: message`."""
        return UserError(f"{self.where}: {message}")

    def text(self, *columns: str) -> str:
        """The text or number in the first of the columns that has one, as a text."""
        value = next((self.values[each] for each in columns if each in self.values), "")
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value).strip()
        raise self.error(f"`{columns[0]}`: expected a text, got {value!r}"[:200])

    def texts(self, column: str) -> tuple[str, ...]:
        """The values of a column, once each; true is the name of the column, false is nothing."""
        value = self.values.get(column, [])
        values = list(value) if isinstance(value, list | tuple) else [value]
        if any(isinstance(each, Mapping | list) for each in values):
            raise self.error(f"`{column}`: expected a text or a list of texts, got {value!r}"[:200])
        named = (column if each is True else each for each in values)
        texts = (str(each).strip() for each in named if each not in (None, False))
        return tuple(dict.fromkeys(filter(None, texts)))

    def number(self, column: str) -> float | None:
        """The number in a column, or None. Raises UserError."""
        text = self.text(column)
        try:
            number = float(text) if text else None
        except ValueError:
            number = math.nan
        if number is not None and not math.isfinite(number):
            raise self.error(f"`{column}`: expected a number, got {text!r}"[:200])
        return number


def read_rows(path: Path) -> Iterator[TableRow]:
    """The rows of a file, by its suffix. Raises UserError."""
    match path.suffix.lower():
        case ".jsonl":
            rows = json_lines(path)
        case ".csv" | ".tsv":
            rows = _csv_rows(path)
        case ".parquet":
            rows = _parquet_rows(path)
        case _:
            raise UserError(f"{path}: expected a file {', '.join(SUFFIXES)}")
    for where, values in rows:
        yield TableRow(where, {k: v for k, v in values.items() if v not in (None, "", [])})


def json_lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Place and object of each line. Raises UserError."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{where}: is no JSON: {error}") from None
        if not isinstance(value, dict):
            raise UserError(f"{where}: expected a JSON object, got {line[:60]!r}")
        yield where, value


def _csv_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    text = read_text(path)
    sign = "\t" if path.suffix.lower() == ".tsv" else _sign(text)
    try:
        for number, values in csv_rows(text, sign):
            cells = {
                name: cell.strip() if name in _WHOLE else parts(cell, sign)
                for name, cell in values.items()
            }
            yield f"{path}:{number}", cells
    except BadLine as error:
        raise UserError(f"{path}:{error.line}: {error.problem}") from None


class BadLine(ValueError):
    """A line of CSV that cannot be read."""

    def __init__(self, line: int, problem: str):
        """`line` counts from 1."""
        super().__init__(f"line {line}: {problem}")
        self.line, self.problem = line, problem


def csv_rows(text: str, sign: str = "") -> Iterator[tuple[int, dict[str, str]]]:
    """The last line and the cells of each row below the header.

    `sign` divides the cells; by default, it is the commonest one of the header. Raises BadLine.
    """
    csv.field_size_limit(_LONGEST)
    sign = sign or _sign(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        if twice := [name for name in names if names.count(name) > 1]:
            raise BadLine(1, f"two columns are called {twice[0]!r}")
        for cells in reader:
            if len(cells) > len(names):
                problem = f"has {len(cells)} cells, and the header {len(names)}"
                raise BadLine(reader.line_num, problem)
            if any(cells):
                cells += [""] * (len(names) - len(cells))
                yield reader.line_num, dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise BadLine(reader.line_num, f"is no CSV: {error}") from None


def _sign(text: str) -> str:
    return max(_SIGNS, key=text.partition("\n")[0].count)


def parts(cell: str, sign: str = "") -> str | list[str]:
    """The text of a cell, or the list in it ("crime|thriller"); `sign` divides cells."""
    for part in _PARTS:
        if part != sign and part in cell and ". " not in cell:
            return [each.strip() for each in cell.split(part) if each.strip()]
    return cell.strip()


def _parquet_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise UserError(f"{path}: Parquet needs pyarrow: pip install 'recjury[frames]'") from None
    try:
        rows = parquet.read_table(path).to_pylist()
    except Exception as error:
        raise UserError(f"{path}: cannot be read as Parquet: {one_line(str(error))}") from None
    for number, values in enumerate(rows, 1):
        yield f"{path}, row {number}", {key: _plain(value) for key, value in values.items()}


def _plain(value: Any) -> Any:
    """A value as JSON would have it: a map is an object, not a number is nothing."""
    return None if isinstance(value, float) and value != value else value
