"""Seals and texts, as rows had them when trials were split."""

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

Row = Mapping[str, Any]

BROKEN = b""
"""A seal that matches no row: a row that was altered before stays altered."""


def seal(values: Sequence[object], hashes: Iterable[bytes] = ()) -> bytes:
    """A row's seal, over its values and the hashes of the texts it refers to."""
    plain = [value.hex() if isinstance(value, bytes) else value for value in values]
    return hashlib.sha256(orjson.dumps(plain) + b"".join(hashes)).digest()[:16]


def stage_seal(seals: Iterable[bytes]) -> bytes:
    """A stage's seal over those of its rows."""
    return seal([each.hex() for each in seals])


def is_intact(row: Row, *, without: Sequence[str] = ("id", "seal")) -> bool:
    """Whether a row matches its seal, which covers all columns except the named ones."""
    try:
        return bool(seal([row[name] for name in row if name not in without]) == row["seal"])
    except TypeError:  # an edited row may hold anything
        return False


def resealed(row: Row, *, intact: bool) -> dict[str, Any]:
    """A row with a new seal; if it was altered before, with a seal that does not match."""
    values = {name: value for name, value in row.items() if name not in {"id", "seal"}}
    return {**values, "seal": seal(list(values.values())) if intact else BROKEN}


def digest(value: object) -> str:
    """The identity of a value: 32 hex digits over its canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:32]


def canonical(value: object) -> str:
    """JSON with sorted keys."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


class Text(NamedTuple):
    """A text that matches its hash."""

    plain: str
    hash: bytes


class Database:
    """The store in the transaction of the migration."""

    def __init__(self, connection: Connection):
        """Reads and writes over `connection`."""
        self._connection = connection

    def rows(self, query: str, *values: object) -> list[Row]:
        """What a query finds."""
        found = self._connection.exec_driver_sql(query, values).mappings().all()
        return [dict(row) for row in found]

    def add(self, table: str, row: Row) -> None:
        """Insert a row, unless the table has its key already."""
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        # The names are those of tables and columns of this file; no user input is in them.
        insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
        self.do(insert, *row.values())

    def do(self, statement: str, *values: object) -> None:
        """Run a statement."""
        self._connection.exec_driver_sql(statement, values)

    def text(self, number: object) -> Text | None:
        """The text with a number; None if it is missing or was altered."""
        for row in self.rows("SELECT hash, size, body FROM text WHERE id = ?", number):
            try:
                body: bytes = row["body"]
                plain = body if len(body) == row["size"] else zlib.decompress(body)
                if hashlib.sha256(plain).digest() == row["hash"]:
                    return Text(plain.decode("utf-8", "surrogatepass"), row["hash"])
            except (zlib.error, TypeError):  # an edited row may hold anything
                pass
        return None

    def json(self, number: object) -> Any:
        """The JSON of a text; None if there is none."""
        text = self.text(number)
        try:
            return None if text is None else orjson.loads(text.plain)
        except orjson.JSONDecodeError:
            return None

    def keep(self, value: object) -> tuple[int, bytes]:
        """The number and the hash of the text that is `value` as canonical JSON; it is added if
        missing."""
        plain = canonical(value).encode()
        found = hashlib.sha256(plain).digest()
        packed = zlib.compress(plain) if len(plain) >= 1024 else plain
        body = packed if len(packed) < len(plain) else plain
        self.add("text", {"hash": found, "size": len(plain), "body": body})
        (row,) = self.rows("SELECT id FROM text WHERE hash = ?", found)
        return row["id"], found
