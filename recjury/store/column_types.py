"""The types of columns, which an edited row may not have: whatever is read is checked here.

SQLite stores any value in any column. A sealed row is read as it is (`as_stored`), since its seal
names it if it was altered. All other values pass through these types.
"""

import math
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Dialect,
    Float,
    Integer,
    LargeBinary,
    String,
    Table,
    type_coerce,
)
from sqlalchemy.types import NullType, TypeDecorator, TypeEngine
from sqlmodel import SQLModel

from recjury.errors import StoreError

_NULL: TypeEngine[Any] = NullType()


class WrongTypeError(StoreError):
    """A value of another type than its column's."""


def _checked(value: Any, kind: type | tuple[type, ...], expected: str) -> Any:
    if value is None or (isinstance(value, kind) and value not in (math.inf, -math.inf)):
        return value
    raise WrongTypeError(f"the store has {value!r:.60} in place of {expected}")


class Words(TypeDecorator[str]):
    """Text."""

    impl = String
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """The text. Raises WrongTypeError."""
        found: str | None = _checked(value, str, "text")
        return found


class Whole(TypeDecorator[int]):
    """A whole number."""

    impl = Integer
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> int | None:  # noqa: ARG002
        """The number. Raises WrongTypeError."""
        found: int | None = _checked(value, int, "a whole number")
        return found


class Real(TypeDecorator[float]):
    """A finite number."""

    impl = Float
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> float | None:  # noqa: ARG002
        """The number. Raises WrongTypeError."""
        found: float | None = _checked(value, (float, int), "a number")
        return found


class Hex(TypeDecorator[str]):
    """Hex digits in Python, half as many bytes in the database."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Hex digits as bytes. Raises ValueError for anything else."""
        return None if value is None else bytes.fromhex(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Bytes as hex digits. Raises WrongTypeError."""
        return None if value is None else _checked(value, bytes, "bytes").hex()


class _AnyHex(Hex):
    """As `Hex`, but any other value is returned unchanged."""

    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        return value.hex() if isinstance(value, bytes) else value


def as_stored(table: Table) -> list[ColumnElement[Any]]:
    """The columns of a table, whose values are not checked when they are read."""
    return [
        type_coerce(each, _AnyHex() if isinstance(each.type, Hex) else _NULL).label(each.name)
        for each in table.c
    ]


def wrong_value(path: Path | str) -> StoreError | None:
    """The error that names the first row of a store with a value of a wrong type, or None."""
    place = Path(path).absolute().as_uri()
    connection = sqlite3.connect(f"{place}?mode=ro", uri=True)
    try:
        columns = (each for table in SQLModel.metadata.sorted_tables for each in table.c)
        return next(filter(None, (_first_wrong(connection, each) for each in columns)), None)
    except sqlite3.Error:
        return None
    finally:
        connection.close()


_KINDS = {Whole: ("integer",), Real: ("real", "integer"), Hex: ("blob",), Words: ("text",)}


def _first_wrong(connection: sqlite3.Connection, column: Column[Any]) -> StoreError | None:
    kinds = next((each for of, each in _KINDS.items() if isinstance(column.type, of)), None)
    if kinds is None:
        return None
    right = ", ".join(f"'{kind}'" for kind in (*kinds, *["null"] * bool(column.nullable)))
    keys = [each.name for each in column.table.primary_key]
    query = (
        f'SELECT {", ".join(keys)}, "{column.name}" FROM "{column.table}" '  # noqa: S608 (ours)
        f'WHERE typeof("{column.name}") NOT IN ({right}) OR abs("{column.name}") = 9e999 LIMIT 1'
    )
    row = connection.execute(query).fetchone()
    if row is None:
        return None
    *key, value = (each.hex() if isinstance(each, bytes) else each for each in row)
    named = ", ".join(map(str, key))
    return StoreError(
        f"row {named} of table {column.table} in the store was changed after it was written: "
        f"{column.name} is {value!r:.60}"
    )
