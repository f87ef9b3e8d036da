"""Rows of many keys by the database's driver alone: tables of many conversations wait for these.

SQLAlchemy takes twenty times as long for a row of one key, and three times for those of many.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Dialect, Select

from recjury.store.texts import chunks


def fetch(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], keys: Iterable[Any]
) -> Iterator[tuple[Any, ...]]:
    """The rows of `query` that have one of `keys` in a column; values are checked as by any query.

    The text of a query is kept: it must be a constant.
    """
    dialect, driver = connection.dialect, connection.connection.driver_connection
    assert driver is not None
    text, mark, checks = _prepared(query, dialect)
    bind = column.type.dialect_impl(dialect).bind_processor(dialect) or _unchanged
    for some in chunks(keys):
        marks = ", ".join([mark] * len(some))
        found = driver.execute(f"{text} {column} IN ({marks})", list(map(bind, some))).fetchall()
        if found:
            columns = zip(checks, zip(*found, strict=True), strict=True)
            yield from zip(*(map(check, values) for check, values in columns), strict=True)


@lru_cache(maxsize=100)
def _prepared(query: Select[Any], dialect: Dialect) -> tuple[str, str, list[Any]]:
    """A query as text to which a condition is added, the mark of a value, and the checks of its
    columns."""
    text = str(query.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
    types = [each.type.dialect_impl(dialect) for each in query.selected_columns]
    return (
        f"{text} {'WHERE' if query.whereclause is None else 'AND'}",
        "?" if dialect.name == "sqlite" else "%s",
        [each.result_processor(dialect, None) or _unchanged for each in types],
    )


def _unchanged(value: Any) -> Any:
    return value
