"""Sealed tables: each row has a seal over its values, and is compared with it whenever it is read.

A `SealedTable` says what the seals of a table's rows cover, and how a row is named in a message.
Whoever writes a row has it sealed by `sealed`; whoever reads rows gets records of those that were
not altered from `read`, `find` or `intact`, which name each altered one.
"""

import contextlib
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import orjson
from sqlalchemy import Connection, Row, select
from sqlmodel import SQLModel

from recjury.errors import StoreError
from recjury.records import JSON
from recjury.store.tables import table_of
from recjury.store.texts import Kept, chunks, hashes_of_ids

T = TypeVar("T")

AnyRow = Row[tuple[Any, ...]]

Damaged = Callable[[StoreError], None]
"""Readers call it with the error for an altered or missing row."""


def refuse(error: StoreError) -> None:
    """Raise the error; this is the default of all readers."""
    raise error


def seal(values: Sequence[JSON], hashes: Iterable[bytes] = ()) -> str:
    """A row's seal: 32 hex digits over its values and the hashes of the texts it refers to."""
    return hashlib.sha256(orjson.dumps(values) + b"".join(hashes)).hexdigest()[:32]


def changed(what: str) -> StoreError:
    """The error for an altered row."""
    return StoreError(f"{what} was changed after it was written")


@contextlib.contextmanager
def as_written(what: str) -> Iterator[None]:
    """Raise the error `changed` for a block that cannot make anything of what it reads."""
    try:
        yield
    except (TypeError, ValueError, KeyError, AttributeError):  # a damaged row may hold any value
        raise changed(what) from None


def check(found: object, expected: object) -> None:
    """In a block of `as_written`: raise ValueError if a digest does not fit what it is over."""
    if found != expected:
        raise ValueError(f"expected {expected}, found {found}")


class SealedTable:
    """A table whose rows are sealed."""

    def __init__(
        self,
        model: type[SQLModel],
        named: str,
        *,
        order: Sequence[str] = (),
        text: str | None = None,
        added_later: Mapping[str, JSON] | None = None,
        unsealed: Collection[str] = (),
    ):
        """`named` names a row by its columns, as "the log of {conversation}".

        Rows are read in the `order` of these columns. A seal covers all columns but `unsealed`: of
        the column `text` the hash of the text, and a column of `added_later` only if it differs
        from the value given here, since most seals are older than it.
        """
        self._table = table_of(model)
        self._named, self._text, self._added_later = named, text, dict(added_later or {})
        self._order = [self._table.c[name] for name in order]
        without = {"seal", text, *self._added_later, *unsealed}
        self._covered = [each.name for each in self._table.c if each.name not in without]

    def sealed(self, row: Mapping[str, JSON], text: Kept | None = None) -> dict[str, JSON]:
        """A new row with its seal, and with the id of its text."""
        if self._text is None or text is None:
            return {**row, "seal": self._seal(row)}
        return {**row, self._text: text.id, "seal": self._seal(row, text.hash)}

    def read(
        self,
        connection: Connection,
        column: str,
        keys: Iterable[str],
        build: Callable[[AnyRow], T],
        damaged: Damaged = refuse,
    ) -> Iterator[tuple[AnyRow, T]]:
        """The rows that have one of `keys` in a column, each with what `build` makes of it.

        `damaged` is called for each altered row.
        """
        for some in chunks(keys):
            query = select(self._table).where(self._table.c[column].in_(some))
            rows = connection.execute(query.order_by(*self._order)).all()
            yield from self.intact(connection, rows, build, damaged)

    def find(
        self,
        connection: Connection,
        ids: Iterable[str],
        build: Callable[[AnyRow], T],
        damaged: Damaged = refuse,
    ) -> dict[str, T]:
        """As `read`, by id and in the given order; `damaged` is called for missing rows, too."""
        found: dict[str, T] = {}
        for some in chunks(ids):
            query = select(self._table).where(self._table.c.id.in_(some))
            rows = {row.id: row for row in connection.execute(query)}
            for each in some:
                if each not in rows:
                    damaged(StoreError(f"{self._named.format(id=each)} is not in the store"))
            ordered = [rows[each] for each in some if each in rows]
            intact = self.intact(connection, ordered, build, damaged)
            found.update((row.id, built) for row, built in intact)
        return found

    def intact(
        self,
        connection: Connection,
        rows: Collection[AnyRow],
        build: Callable[[AnyRow], T],
        damaged: Damaged = refuse,
    ) -> Iterator[tuple[AnyRow, T]]:
        """As `read`, for rows that were read already."""
        texts: list[Any] = [self._text and row._mapping[self._text] for row in rows]
        hashes = hashes_of_ids(connection, (text for text in texts if isinstance(text, int)))
        for row, text in zip(rows, texts, strict=True):
            try:
                with as_written(f"{self._named.format_map(row._mapping)} in the store"):
                    check(self._seal(row._mapping, hashes.get(text, b"")), row.seal)
                    built = build(row)
            except StoreError as error:
                damaged(error)
            else:
                yield row, built

    def _seal(self, row: Mapping[Any, Any], text_hash: bytes = b"") -> str:
        values = [row[name] for name in self._covered]
        later = self._added_later.items()
        values += [{name: row[name]} for name, default in later if row[name] != default]
        return seal(values, [text_hash])
