"""The types of columns, which an edited row may not have: whatever is read is checked here.

Texts are sorted by their characters' numbers in both databases. SQLite stores any value in any
column. A sealed row is read as it is (`as_stored`), since its seal names it if it was altered. All
other values pass through these types.
"""

import math
import sqlite3
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
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

_TEXT = String().with_variant(String(collation="C"), "postgresql")
_NUL = "\U0010ffff"
"""What stands for the character NUL in PostgreSQL, which has none: no text has this one."""

_WHOLE = Integer().with_variant(BigInteger(), "postgresql")


class WrongTypeError(StoreError):
    """A value of another type than its column's."""


class _Checked(TypeDecorator[Any]):
    """A type whose values have one of `kinds` in Python, and one of `stored` in SQLite."""

    kinds: ClassVar[tuple[type, ...]]
    stored: ClassVar[tuple[str, ...]]

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:  # noqa: ARG002
        """What checks a value; it is called directly, since rows are read by the million."""
        return self._checked

    def _checked(self, value: Any) -> Any:
        """The value. Raises WrongTypeError for one of another type, and for infinity."""
        if value is None or (isinstance(value, self.kinds) and value not in (math.inf, -math.inf)):
            return value
        raise WrongTypeError(f"the store has {value!r:.60}, expected {self.stored[0]}")


class PlainText(_Checked):
    """Text."""

    impl, cache_ok, kinds, stored = _TEXT, True, (str,), ("text",)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text, as the database can have it."""
        if value is None or dialect.name != "postgresql":
            return value
        return value.replace("\0", _NUL)

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:  # noqa: ARG002
        """As for any type; with NUL."""
        if dialect.name != "postgresql":
            return self._checked
        return lambda value: _with_nul(self._checked(value))


class Whole(_Checked):
    """A whole number."""

    impl, cache_ok, kinds, stored = _WHOLE, True, (int,), ("integer",)

    def _checked(self, value: Any) -> Any:
        """The value, also of a sum, which PostgreSQL gives as a decimal. Raises WrongTypeError."""
        return super()._checked(int(value) if isinstance(value, Decimal) else value)


class Real(_Checked):
    """A finite number."""

    impl, cache_ok, kinds, stored = Float, True, (float, int), ("real", "integer")


class Hex(_Checked):
    """Hex digits in Python, half as many bytes in the database."""

    impl, cache_ok, kinds, stored = LargeBinary, True, (bytes,), ("blob",)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Hex digits as bytes. Raises ValueError for anything else."""
        return None if value is None else bytes.fromhex(value)

    def _checked(self, value: Any) -> str | None:
        """Bytes as hex digits. Raises WrongTypeError."""
        checked: bytes | None = super()._checked(value)
        return None if checked is None else checked.hex()


def _with_nul(value: Any) -> Any:
    return value.replace(_NUL, "\0") if isinstance(value, str) else value


class _AnyText(TypeDecorator[Any]):
    """Any value, as it is in the database; of a text, what was written."""

    impl, cache_ok = String, True

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:  # noqa: ARG002
        """What changes a value, if anything has to: rows are read by the million."""
        return _with_nul if dialect.name == "postgresql" else None


class _AnyHex(Hex):
    """As `Hex`, but any other value is returned unchanged."""

    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:  # noqa: ARG002
        """What makes hex digits of bytes."""
        return _hex_of_bytes


def _hex_of_bytes(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def as_stored(table: Table) -> list[ColumnElement[Any]]:
    """The columns of a table, whose values are not checked when they are read."""
    return [type_coerce(each, _as_it_is(each.type)).label(each.name) for each in table.c]


def _as_it_is(kind: TypeEngine[Any]) -> TypeEngine[Any]:
    if isinstance(kind, Hex):
        return _AnyHex()
    return _AnyText() if isinstance(kind, PlainText) else NullType()


def first_wrong_value(connection: sqlite3.Connection) -> WrongTypeError | None:
    """The error that names the first row of a store with a value of a wrong type, or None."""
    columns = (each for table in SQLModel.metadata.sorted_tables for each in table.c)
    return next(filter(None, (_first_wrong(connection, each) for each in columns)), None)


def _first_wrong(connection: sqlite3.Connection, column: Column[Any]) -> WrongTypeError | None:
    if not isinstance(column.type, _Checked):
        return None
    kinds = (*column.type.stored, *["null"] * bool(column.nullable))
    right = ", ".join(f"'{kind}'" for kind in kinds)
    keys = [each.name for each in column.table.primary_key]
    is_infinite = f'typeof("{column.name}") = \'real\' AND abs("{column.name}") = 9e999'
    query = (
        f'SELECT {", ".join(keys)}, "{column.name}" FROM "{column.table}" '  # noqa: S608 (ours)
        f'WHERE typeof("{column.name}") NOT IN ({right}) OR {is_infinite} LIMIT 1'
    )
    row = connection.execute(query).fetchone()
    if row is None:
        return None
    *key, value = (each.hex() if isinstance(each, bytes) else each for each in row)
    named = ", ".join(map(str, key))
    return WrongTypeError(
        f"row {named} of table {column.table} in the store was changed after it was written: "
        f"{column.name} is {value!r:.60}"
    )
