"""The types of columns, which an edited row may not have: whatever is read is checked here.

Texts are sorted by their characters' numbers in both databases. SQLite stores any value in any
column. A sealed row is read as it is (`as_stored`), since its seal names it if it was altered. All
other values pass through these types.
"""

import math
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
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

from recjury.errors import StoreError

_TEXT = String().with_variant(String(collation="C"), "postgresql")
_NUL = "\U0010ffff"
"""What stands for the character NUL in PostgreSQL, which has none: no text has this one."""

_WHOLE = Integer().with_variant(BigInteger(), "postgresql")


class WrongTypeError(StoreError):
    """A value of another type than its column's."""


class _Checked(TypeDecorator[Any]):
    """A type whose values are of one of `kinds` in Python."""

    kinds: ClassVar[tuple[type, ...]]
    expected: ClassVar[str]

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:  # noqa: ARG002
        """What checks a value; it is called directly, since rows are read by the million."""
        return self._checked

    def _checked(self, value: Any) -> Any:
        """The value. Raises WrongTypeError for one of another type, and for infinity."""
        if value is None or (isinstance(value, self.kinds) and value not in (math.inf, -math.inf)):
            return value
        raise WrongTypeError(
            f"the store has {value!r:.60}, expected {self.expected}: it was changed after it was "
            "written (`recjury store verify` names the row)"
        )


class PlainText(_Checked):
    """Text."""

    impl, cache_ok, kinds, expected = _TEXT, True, (str,), "text"

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

    impl, cache_ok, kinds, expected = _WHOLE, True, (int,), "integer"

    def _checked(self, value: Any) -> Any:
        """The value, also of a sum, which PostgreSQL gives as a decimal. Raises WrongTypeError."""
        return super()._checked(int(value) if isinstance(value, Decimal) else value)


class Real(_Checked):
    """A finite number."""

    impl, cache_ok, kinds, expected = Float, True, (float, int), "real"


class Hex(_Checked):
    """Hex digits in Python, half as many bytes in the database."""

    impl, cache_ok, kinds, expected = LargeBinary, True, (bytes,), "blob"

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
