"""Rows of many keys by the database's driver alone: tables of many conversations wait for these.

SQLAlchemy takes ten times as long for a row of one key, and twice for those of many.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Dialect, Select
from sqlalchemy.types import TypeEngine

from recjury.store.column_types import Hex, PlainText, Whole
from recjury.store.texts import chunks


def fetch(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], keys: Iterable[Any]
) -> Iterator[tuple[Any, ...]]:
    """The rows of `query` that have one of `keys` in a column; values are checked as by any query.

    The query is a constant, since its text is kept.
    """
    dialect, driver = connection.dialect, connection.connection.driver_connection
    assert driver is not None
    if not connection.in_transaction():  # so that all rows are of one view of the store
        connection.begin()
    text, mark, columns = _prepared(query, dialect)
    bind = column.type.dialect_impl(dialect).bind_processor(dialect) or _unchanged
    for some in chunks(keys):
        marks = ", ".join([mark] * len(some))
        found = driver.execute(f"{text} {column} IN ({marks})", list(map(bind, some))).fetchall()
        if found:
            every = zip(columns, zip(*found, strict=True), strict=True)
            yield from zip(*(_read(each, values) for each, values in every), strict=True)


class _Column(NamedTuple):
    """A column's type, the type of its values that need no check, and what checks the others."""

    kind: TypeEngine[Any]
    plain: type | None
    check: Callable[[Any], Any]


@lru_cache(maxsize=100)
def _prepared(query: Select[Any], dialect: Dialect) -> tuple[str, str, list[_Column]]:
    """A query as text to which a condition is added, the mark of a value, and the columns."""
    text = str(query.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
    is_sqlite = dialect.name == "sqlite"
    # The type of values that are as they should be. PostgreSQL's texts may stand for others.
    plain: dict[type, type] = {Whole: int, PlainText: str} if is_sqlite else {Whole: int}
    return (
        f"{text} {'WHERE' if query.whereclause is None else 'AND'}",
        "?" if is_sqlite else "%s",
        [
            _Column(
                each.type,
                plain.get(type(each.type)),
                each.type.dialect_impl(dialect).result_processor(dialect, None) or _unchanged,
            )
            for each in query.selected_columns
        ],
    )


def _read(column: _Column, values: Sequence[Any]) -> Iterable[Any]:
    """The values of a column: all at once if they are of the type that they should be."""
    types = {*map(type, values)}
    if types == {column.plain}:
        return values
    if types == {bytes} and isinstance(column.kind, Hex):
        return map(bytes.hex, values)
    return map(column.check, values)


def _unchanged(value: Any) -> Any:
    return value
