"""Rows of a file of recordings: JSON in its usual layouts, and CSV, each with its place."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

from recjury.corpora.tables import csv_rows
from recjury.files import nearest

_LOOKED_AT = 50  # rows, for the names of columns
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


def rows_of(text: str, is_row: Callable[[Any], bool]) -> Iterator[Row]:
    """The rows of JSON lines, an array, an object, or CSV; a bad line is a row with a problem.

    A value for which `is_row` holds is one row; of another object, the list in it is read, and
    what stands beside the list belongs to each entry. Raises ValueError for another kind of text.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return _table(text)
    try:
        values = _listed(json.loads(text, strict=False), is_row)
    except (ValueError, RecursionError):
        lines = ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())
        return (_line(number, line) for number, line in lines)
    return (Row(f"entry {number}", value) for number, value in enumerate(values, 1))


def _table(text: str) -> Iterator[Row]:
    rows = csv_rows(text)
    first = next(rows, None)
    if first is None or len(first[1]) < 2:
        raise ValueError("it is neither JSON nor a table with a header")
    yield Row(f"line {first[0]}", first[1])
    yield from (Row(f"line {number}", values) for number, values in rows)


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


def decoded(value: Any) -> Any:
    """The value; that in a text of JSON, as cells of tables have it."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return json.loads(value)
        except ValueError:
            pass
    return value
