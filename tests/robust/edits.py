"""Edits of a store behind recjury's back: a value of another kind in each column of each table."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

STRANGE: tuple[object, ...] = ("x", "", b"\xff\xfe", '{"a": [', "[[[1, 2]]]", 2**63 - 1, -1, 1e999)
"""What an edited cell may hold; a text in a column of numbers stays one in SQLite."""


class Edit(NamedTuple):
    """Every value of a column becomes `value`, or only the first one if `once`."""

    table: str
    column: str
    value: object
    once: bool = False

    def __str__(self) -> str:
        return f"{self.table}.{self.column}={self.value!r}{' once' * self.once}"


def edits(path: Path) -> Iterator[Edit]:
    """Two strange values for each column of a store, the first of which replaces one value only."""
    with sqlite3.connect(path) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for number, (table,) in enumerate(tables.fetchall()):
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            for place, column in enumerate(columns):
                for further in range(2):
                    value = STRANGE[(number + 3 * place + 5 * further) % len(STRANGE)]
                    yield Edit(table, column[1], value, once=not further)
    connection.close()


def apply(edit: Edit, path: Path) -> bool:
    """Edit the store at `path`; False if its own constraints do not allow it."""
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        where = ""
        if edit.once:
            first = f"SELECT {edit.column} FROM {edit.table} LIMIT 1"
            where = f" WHERE {edit.column} IS ({first})"
        with connection:
            done = connection.execute(
                f"UPDATE OR IGNORE {edit.table} SET {edit.column} = ?{where}", (edit.value,)
            )
        return done.rowcount > 0
    except sqlite3.IntegrityError:
        return False
    finally:
        connection.close()
