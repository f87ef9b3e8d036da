"""Edits of a store behind recjury's back: a value of another kind in each column of each table."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
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
        """The edit as the name of a test."""
        return f"{self.table}.{self.column}={self.value!r}{' once' * self.once}"

    def apply(self, path: Path) -> bool:
        """Edit the store at `path`; False if its own constraints do not allow it."""
        where = f" WHERE {self.column} IS (SELECT {self.column} FROM {self.table} LIMIT 1)"
        statement = f"UPDATE {self.table} SET {self.column} = ?{where * self.once}"
        with closing(sqlite3.connect(path)) as connection:
            try:
                with connection:
                    return connection.execute(statement, (self.value,)).rowcount > 0
            except sqlite3.IntegrityError:
                return False


def edits(path: Path) -> Iterator[Edit]:
    """Two strange values for each column of a store; the first replaces one value only."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for number, (table,) in enumerate(tables.fetchall()):
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            for place, column in enumerate(columns):
                for further in range(2):
                    value = STRANGE[(number + 3 * place + 5 * further) % len(STRANGE)]
                    yield Edit(table, column[1], value, once=not further)
