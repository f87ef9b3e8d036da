"""Rows of files: JSON in its usual layouts, CSV and Parquet, each with its place for messages."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from recjury.corpora.words import is_blank
from recjury.errors import UserError
from recjury.files import nearest, read_text
from recjury.keys import one_line

_LOOKED_AT = 50  # rows, for the names of columns
_SHOWN = 60  # characters of a file in a message
_SIGNS = (",", ";", "\t")
"""What divides the cells of CSV."""
_PARTS = ("|", ";")
"""What divides several values in a cell of CSV."""
_LONGEST = 2**30  # characters of a cell
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Row(NamedTuple):
    """A value of a file: where it stands, and why it cannot be read, if that is so.

    `given` has what a mapping took from it, by recjury's keys.
    """

    where: str
    value: Any = None
    given: Mapping[str, Any] = _NOTHING
    problem: str = ""

    @property
    def fields(self) -> Any:
        """The value; of an object, with what was given."""
        return {**self.value, **self.given} if isinstance(self.value, Mapping) else self.value

    def error(self, message: str) -> UserError:
        """An error at the row: `items.csv:3: message`."""
        return UserError(f"{self.where}: {message}")

    def text(self, *columns: str) -> str:
        """The text or number in the first of the columns that has one, as a text."""
        value = next((self.value[each] for each in columns if each in self.value), "")
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value).strip()
        raise self.error(f"`{columns[0]}`: expected a text, got {value!r}"[:200])

    def texts(self, column: str) -> tuple[str, ...]:
        """The values of a column, once each; true is the name of the column, false is nothing."""
        value = self.value.get(column, [])
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


def rows(path: Path, is_row: Callable[[Any], bool], encoding: str = "utf-8") -> Iterator[Row]:
    """The rows of a file: JSON lines, an array, an object, CSV, or Parquet.

    A line that is no JSON is a row with a problem. A value for which `is_row` holds is one row; of
    another object, the list in it is read, and what stands beside the list belongs to each entry.
    Raises UserError if the file cannot be read, and ValueError for another kind of text.
    """
    if path.suffix.lower() == ".parquet":
        return _parquet(path)
    text = read_text(path, encoding=encoding)
    if is_blank(text):
        return iter(())
    if text.lstrip()[:1] not in ("{", "["):
        return _table(text)
    try:
        values = _listed(json.loads(text, strict=False), is_row)
    except (ValueError, RecursionError):
        lines = ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())
        return (_line(number, line) for number, line in lines)
    return (Row(f"entry {number}", value) for number, value in enumerate(values, 1))


def objects(path: Path, encoding: str = "utf-8") -> Iterator[Row]:
    """The rows of a file of objects, each with the file in its place. Raises UserError."""
    try:
        for row in rows(path, _is_object, encoding):
            placed = row._replace(where=_place(path, row.where))
            if row.problem:
                raise placed.error(row.problem)
            if not _is_object(row.value):
                raise placed.error(f"expected a JSON object, got {row.value!r}"[:200])
            yield placed
    except ValueError as problem:
        raise UserError(f"{path}: {problem}") from None


def _place(path: Path, where: str) -> str:
    """`items.csv:3`, as editors take it."""
    kind, _, number = where.partition(" ")
    return f"{path}:{number}" if kind == "line" else f"{path}, {where}"


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _table(text: str) -> Iterator[Row]:
    """The rows of CSV, whose cells are divided by the commonest sign of the header."""
    csv.field_size_limit(_LONGEST)
    sign = max(_SIGNS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        if len(names) < 2:
            begins = " ".join(text[:_SHOWN].split())
            raise ValueError(
                f"it is neither JSON nor a table with a header; it begins with {begins!r}"
            )
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"line 1: two columns are called {twice[0]!r}")
        for cells in reader:
            if len(cells) > len(names):
                raise ValueError(
                    f"line {reader.line_num}: has {len(cells)} cells, and the header {len(names)}"
                )
            if any(cells):
                cells += [""] * (len(names) - len(cells))
                yield Row(f"line {reader.line_num}", dict(zip(names, cells, strict=True)))
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: is no CSV: {error}") from None


def _parquet(path: Path) -> Iterator[Row]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise UserError(f"{path}: Parquet needs pyarrow: pip install 'recjury[frames]'") from None
    try:
        values = parquet.read_table(path).to_pylist()
    except Exception as error:
        raise UserError(f"{path}: cannot be read as Parquet: {one_line(str(error))}") from None
    for number, value in enumerate(values, 1):  # what is not a number is nothing, as in JSON
        yield Row(f"row {number}", {k: None if v != v else v for k, v in value.items()})


def _line(number: int, line: str) -> Row:
    try:
        return Row(f"line {number}", json.loads(line, strict=False))
    except (ValueError, RecursionError) as error:
        return Row(f"line {number}", problem=f"it is no JSON: {error}")


def _listed(value: Any, is_row: Callable[[Any], bool]) -> list[Any]:
    """The rows in a JSON value."""
    if is_row(value):
        return [value]
    if isinstance(value, Mapping):
        lists = {key: each for key, each in value.items() if isinstance(each, list)}
        of_rows = {key: each for key, each in lists.items() if any(map(is_row, each))}
        lists = of_rows or lists
        if len(lists) != 1:
            return [value]
        ((key, entries),) = lists.items()
        beside = {name: each for name, each in value.items() if name != key}
        return [{**beside, **each} if isinstance(each, Mapping) else each for each in entries]
    return value if isinstance(value, list) else [value]


def parts(cell: str) -> str | list[str]:
    """The text of a cell, or the list in it ("crime|thriller")."""
    for part in _PARTS:
        if part in cell and ". " not in cell:
            return [each.strip() for each in cell.split(part) if each.strip()]
    return cell.strip()


def decoded(value: Any) -> Any:
    """The value; that in a text of JSON, as cells of tables have it."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return json.loads(value)
        except ValueError:
            pass
    return value


def mapped(rows: Sequence[Row], mapping: Mapping[str, str]) -> list[Row]:
    """The rows, with what stands in the columns of a mapping by its keys.

    A column is a key, or keys with dots ("metadata.bot"). Raises ValueError for one that no row
    has.
    """
    for column in mapping.values():
        _check(rows, column)
    return [
        row._replace(given={key: _at(row.value, column) for key, column in mapping.items()})
        for row in rows
    ]


def chosen(rows: Sequence[Row], wanted: Mapping[str, str]) -> list[Row]:
    """The rows that have these values in these columns. Raises ValueError if there is none."""
    left = list(rows)
    for column, value in wanted.items():
        _check(rows, column)
        left = [row for row in left if _text(_at(row.value, column)) == value]
        if not left:
            some = sorted({_text(_at(row.value, column)) for row in rows})
            raise ValueError(
                f"no row has {value!r} in {column}{nearest(value, some)}: there are "
                f"{', '.join(some[:5])}{', ...' if some[5:] else ''}"
            )
    return left


def _check(rows: Sequence[Row], column: str) -> None:
    if all(_at(row.value, column) is None for row in rows):
        objects = (row.value for row in rows if isinstance(row.value, Mapping))
        names = dict.fromkeys(name for each in islice(objects, _LOOKED_AT) for name in each)
        there = ", ".join(map(str, names)) or "none"
        raise ValueError(f"there is no column {column!r}{nearest(column, names)}: {there}")


def _at(value: Any, column: str) -> Any:
    """What stands in a column, or None."""
    if not isinstance(value, Mapping) or column in value:
        return value[column] if isinstance(value, Mapping) else None
    first, _, rest = column.partition(".")
    return _at(value.get(first), rest) if rest else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
