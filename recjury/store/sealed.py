"""Sealed tables: the columns of a table are the fields of its records, and each row has a seal.

A `SealedTable` is the only way from a record to its row and back. It makes the columns from the
record's fields, writes a record with a seal over all its values, and compares each row with its
seal whenever it is read. What was altered is named.
"""

import contextlib
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from types import UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

import orjson
from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    Row,
    String,
    Table,
    select,
)
from sqlalchemy.types import TypeEngine
from sqlmodel import SQLModel

from recjury.errors import StoreError
from recjury.records import JSON, Record
from recjury.store.engine import insert_new
from recjury.store.tables import Hex
from recjury.store.texts import TextRef, chunks, hashes_of_ids, text_reader
from recjury.store.writer import Transaction

R = TypeVar("R", bound=Record)

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


def canonical_json(value: object) -> str:
    """JSON with sorted keys, which is the same for equal values. Raises TypeError for others."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


class SealedTable(Generic[R]):
    """A table of records of one type; its rows have further columns for their keys.

    A field that is text, a number or a constant is a column of its type; a list of strings is a
    column with JSON; an object is a row of `text`, whose number the column has.
    """

    def __init__(
        self,
        name: str,
        record: type[R],
        *keys: Column[Any],
        named: str,
        order: Sequence[str] = (),
        unsealed: Collection[str] = (),
    ):
        """`named` names a row by its columns, as "the log of {conversation}".

        `keys` are columns that the record lacks, and those of its fields that need more than a
        type. Rows are read in the `order` of these columns. A seal covers all columns but
        `unsealed`. Without a primary key among `keys`, rows are numbered (`id`), and `order` is
        unique.
        """
        self.record, self._named = record, named
        fields = record.model_fields
        self._text = next((each for each, f in fields.items() if _is_object(f.annotation)), None)
        columns = [
            _column(each, field.annotation)
            for each, field in fields.items()
            if each not in {key.name for key in keys}
        ]
        is_numbered = not any(key.primary_key for key in keys)
        number = [Column("id", Integer, primary_key=True)] if is_numbered else []
        columns.append(Column("seal", Hex(), nullable=False))
        self.table = Table(name, SQLModel.metadata, *number, *keys, *columns)
        if is_numbered and order:
            Index(f"ix_{name}_place", *(self.table.c[each] for each in order), unique=True)
        self.c = self.table.c
        self._order = [self.c[each] for each in order]
        without = {"seal", self._text, *unsealed, *(each.name for each in number)}
        self._covered = [each.name for each in self.c if each.name not in without]
        self._lists = [each for each, f in fields.items() if get_origin(f.annotation) is tuple]

    def rows(
        self, transaction: Transaction, records: Iterable[tuple[R, Mapping[str, JSON]]]
    ) -> list[dict[str, JSON]]:
        """Sealed rows of records, each with the values of its keys; their texts are stored."""
        plain = [(record.model_dump(mode="python"), keys) for record, keys in records]
        texts: Mapping[str, TextRef] = {}
        if self._text is not None:
            bodies = {canonical_json(values[self._text]) for values, _ in plain}
            texts = transaction.texts.intern(transaction.connection, bodies)
        return [self._row({**values, **keys}, texts) for values, keys in plain]

    def insert(
        self, transaction: Transaction, records: Iterable[tuple[R, Mapping[str, JSON]]]
    ) -> None:
        """Add rows; existing ones are not changed."""
        if rows := self.rows(transaction, records):
            transaction.connection.execute(insert_new(self.table), rows)

    def _row(self, values: Mapping[str, Any], texts: Mapping[str, TextRef]) -> dict[str, JSON]:
        row = {
            name: _stored(value, self.c[name].type)
            for name, value in values.items()
            if name != self._text
        }
        if self._text is None:
            return {**row, "seal": self._seal(row)}
        text = texts[canonical_json(values[self._text])]
        return {**row, self._text: text.id, "seal": self._seal(row, text.hash)}

    def read(
        self,
        connection: Connection,
        column: str,
        keys: Iterable[str],
        damaged: Damaged = refuse,
    ) -> Iterator[tuple[AnyRow, R]]:
        """The rows that have one of `keys` in a column, each with its record.

        `damaged` is called for each altered row.
        """
        for some in chunks(keys):
            query = select(self.table).where(self.c[column].in_(some))
            rows = connection.execute(query.order_by(*self._order)).all()
            yield from self.intact(connection, rows, damaged)

    def find(
        self, connection: Connection, ids: Iterable[str], damaged: Damaged = refuse
    ) -> Iterator[tuple[AnyRow, R]]:
        """As `read`, by id and in the given order; `damaged` is called for missing rows, too."""
        for some in chunks(ids):
            query = select(self.table).where(self.c.id.in_(some))
            rows = {row.id: row for row in connection.execute(query)}
            for each in some:
                if each not in rows:
                    damaged(StoreError(f"{self._named.format(id=each)} is not in the store"))
            ordered = [rows[each] for each in some if each in rows]
            yield from self.intact(connection, ordered, damaged)

    def intact(
        self, connection: Connection, rows: Collection[AnyRow], damaged: Damaged = refuse
    ) -> Iterator[tuple[AnyRow, R]]:
        """As `read`, for rows that were read already."""
        texts: list[Any] = [self._text and row._mapping[self._text] for row in rows]
        hashes = hashes_of_ids(connection, (text for text in texts if isinstance(text, int)))
        read_text = text_reader(connection)
        for row, text in zip(rows, texts, strict=True):
            try:
                with as_written(f"{self._named.format_map(row._mapping)} in the store"):
                    check(self._seal(row._mapping, hashes.get(text, b"")), row.seal)
                    record = self._record(row, read_text)
            except StoreError as error:
                damaged(error)
            else:
                yield row, record

    def _record(self, row: AnyRow, read_text: Callable[[int], str]) -> R:
        values = {name: row._mapping[name] for name in self.record.model_fields}
        for name in self._lists:
            values[name] = orjson.loads(values[name])
        if self._text is not None:
            values[self._text] = orjson.loads(read_text(values[self._text]))
        return self.record.model_validate(values)

    def _seal(self, row: Mapping[Any, Any], text_hash: bytes = b"") -> str:
        return seal([row[name] for name in self._covered], [text_hash])


def _stored(value: object, kind: TypeEngine[Any]) -> Any:
    """A value as a column of this type stores it, and as the seal covers it."""
    match value:
        case Enum():
            return value.value
        case tuple():
            return orjson.dumps(value).decode()
        case int() | float():
            return float(value) if isinstance(kind, Float) else int(value)
        case _:
            return value


_TYPES: Mapping[type, TypeEngine[Any]] = {
    str: String(),
    int: Integer(),
    bool: Integer(),
    float: Float(),
}


def _column(name: str, annotation: Any) -> Column[Any]:
    """The column of a field."""
    if _is_object(annotation):
        return Column(name, Integer, ForeignKey("text.id"), nullable=False)
    kinds = [annotation]
    if get_origin(annotation) in (Union, UnionType):
        kinds = [each for each in get_args(annotation) if each is not type(None)]
    is_optional = kinds[0] is not annotation
    kind = next((plain for plain in _TYPES if _is_subclass(kinds[0], plain)), str)
    return Column(name, _TYPES[kind], nullable=is_optional)


def _is_object(annotation: Any) -> bool:
    return get_origin(annotation) is Mapping


def _is_subclass(kind: Any, of: type) -> bool:
    # bool is an int, too, but StrEnum is text.
    return isinstance(kind, type) and issubclass(kind, of) and (kind is bool) == (of is bool)
