"""Sealed tables: the columns of a table are the fields of its records, and each row has a seal.

A `SealedTable` is the only way from a record to its row and back. It makes the columns from the
record's fields, writes a record with a seal over all its values, and
compares each row with its seal whenever it is read. What was altered is named.
"""

import contextlib
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from types import MappingProxyType, UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

import orjson
from sqlalchemy import Column, Connection, ForeignKey, Index, Row, Select, Table, select
from sqlalchemy.dialects.postgresql import Insert
from sqlalchemy.types import TypeEngine
from sqlmodel import SQLModel

from recjury.errors import StoreError
from recjury.records import JSON, Record
from recjury.safe_text import without_keys
from recjury.store.column_types import Hex, PlainText, Real, Whole, as_stored
from recjury.store.engine import insert_new, insert_or_replace
from recjury.store.texts import (
    TextId,
    TextRef,
    chunks,
    hashes_of_ids,
    text_reader,
    texts_of_ids,
)
from recjury.store.writer import Transaction

R = TypeVar("R", bound=Record)

_SEALED = "sealed"

AnyRow = Row[tuple[Any, ...]]

Keyed = tuple[R, Mapping[str, JSON]]
"""A record with the values of its keys."""

Damaged = Callable[[StoreError], None]
"""Readers call it with the error for an altered or missing row."""


def refuse(error: StoreError) -> None:
    """Raise the error; this is the default of all readers."""
    raise error


def seal(values: JSON, hashes: Iterable[bytes] = ()) -> str:
    """A row's seal: 32 hex digits over its values and the hashes of the texts it refers to."""
    return hashlib.sha256(orjson.dumps(values) + b"".join(hashes)).hexdigest()[:32]


def changed(what: str) -> StoreError:
    """The error for an altered row."""
    return StoreError(f"{what} was changed after it was written")


def refuse_keys(what: str, values: Iterable[object]) -> None:
    """Raise StoreError if a value is a text with a key: without it, no seal would fit."""
    if any(isinstance(each, str) and without_keys(each) != each for each in values):
        raise StoreError(
            f"{what} has a text that is a key on this machine, and is not copied: if it is no "
            "secret, unset the variable of the environment that has it"
        )


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

    A field that is text, a number or a constant is a column of its type; a tuple is a column with
    a JSON list; an object is a row of `text`, whose number the column has, or JSON if its column is
    given as text.
    """

    def __init__(
        self,
        name: str,
        record: type[R],
        *keys: Column[Any],
        named: str,
        order: Sequence[str] = (),
        without_rowid: bool = False,
    ):
        """`named` names a row by its columns, as "the log of {conversation}".

        `keys` are columns that the record lacks, and those of its fields that need more than a
        type. Rows are read in the `order` of these columns. Without a primary key among `keys`,
        rows are numbered (`id`), and `order` is unique. A seal covers all columns but that number.
        With `without_rowid`, SQLite keeps the rows in the index of their primary key.
        """
        self.record, self._named = record, named
        fields = {each: field.annotation for each, field in record.model_fields.items()}
        given = {key.name for key in keys}
        is_numbered = not any(key.primary_key for key in keys)
        self.table = Table(
            name,
            SQLModel.metadata,
            *([Column("id", Whole, primary_key=True)] if is_numbered else []),
            *keys,
            *(column(each, annotation) for each, annotation in fields.items() if each not in given),
            Column("seal", Hex(), nullable=False),
            info={_SEALED: self},
            sqlite_with_rowid=not without_rowid,
        )
        if is_numbered and order:
            Index(f"ix_{name}_place", *(self.table.c[each] for each in order), unique=True)
        self.c = self.table.c
        self._numbered = numbered = [self.c.id] if is_numbered else []
        self._order = [self.c[each] for each in order] or numbered
        without = {"seal", *(each.name for each in numbered)}
        self._covered = [str(each.name) for each in self.c if each.name not in without]
        objects = [each for each, annotation in fields.items() if _is_object(annotation)]
        self._texts = [each for each in objects if isinstance(self.c[each].type, Whole)]
        lists = [each for each, annotation in fields.items() if get_origin(annotation) is tuple]
        self._json = [*lists, *(each for each in objects if each not in self._texts)]

    def rows(self, transaction: Transaction, records: Iterable[Keyed[R]]) -> list[dict[str, JSON]]:
        """Sealed rows of records, each with the values of its keys; their texts are stored."""
        plain = [{**record.model_dump(mode="python"), **keys} for record, keys in records]
        bodies = {
            canonical_json(values[name])
            for values in plain
            for name in self._texts
            if values[name] is not None
        }
        texts = transaction.texts.intern(transaction.connection, bodies) if bodies else {}
        return [self._row(values, texts) for values in plain]

    def insert(self, transaction: Transaction, records: Iterable[Keyed[R]]) -> None:
        """Add rows; existing ones are not changed."""
        self._write(insert_new(self.table), transaction, records)

    def replace(self, transaction: Transaction, records: Iterable[Keyed[R]]) -> None:
        """Add rows, in place of those with their primary keys."""
        self._write(insert_or_replace(self.table), transaction, records)

    def _write(self, insert: Insert, transaction: Transaction, records: Iterable[Keyed[R]]) -> None:
        if rows := self.rows(transaction, records):
            transaction.connection.execute(insert, rows)

    def _row(self, values: Mapping[str, Any], texts: Mapping[str, TextRef]) -> dict[str, JSON]:
        row: dict[str, JSON] = {}
        hashes: dict[int, bytes] = {}
        for name, value in values.items():
            if name in self._texts and value is not None:
                text = texts[canonical_json(value)]
                row[name], hashes[text.id] = text
            else:
                row[name] = _stored(value, self.c[name].type)
        covered = [row[name] for name in self._covered]
        return {**row, "seal": self._seal(covered, hashes)}

    @staticmethod
    def every() -> "Iterator[SealedTable[Any]]":
        """All tables of a store whose rows are sealed records."""
        tables = SQLModel.metadata.sorted_tables
        return (each.info[_SEALED] for each in tables if _SEALED in each.info)

    def copies(
        self, connection: Connection, rows: Collection[AnyRow], transaction: Transaction
    ) -> list[dict[str, Any]]:
        """Rows of another store for this one: as they are, with the numbers that texts have here.

        Raises StoreError for an altered row, and for one with a key.
        """
        list(self.intact(connection, rows))
        numbers = {row._mapping[name] for row in rows for name in self._texts} - {None}
        texts = texts_of_ids(connection, numbers)
        for row in rows:
            own = (texts[row._mapping[name]] for name in self._texts if row._mapping[name])
            refuse_keys(self._named.format_map(row._mapping), (*row, *own))
        here = transaction.texts.intern(transaction.connection, texts.values()) if texts else {}
        found: list[dict[str, Any]] = []
        for row in rows:
            values = {str(name): value for name, value in row._mapping.items()}
            for name in self._texts:
                if values[name] is not None:
                    values[name] = here[texts[values[name]]].id
            if self._numbered:
                del values["id"]
            found.append(values)
        return found

    def select(self) -> Select[Any]:
        """All columns of all rows, for `intact`."""
        return select(*as_stored(self.table))

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
            query = self.select().where(self.c[column].in_(some))
            rows = connection.execute(query.order_by(*self._order)).all()
            yield from self.intact(connection, rows, damaged)

    def find(
        self, connection: Connection, ids: Iterable[str], damaged: Damaged = refuse
    ) -> Iterator[tuple[AnyRow, R]]:
        """As `read`, by id and in the given order; `damaged` is called for missing rows, too."""
        for some in chunks(ids):
            query = self.select().where(self.c.id.in_(some))
            rows = {row.id: row for row in connection.execute(query)}
            for each in some:
                if each not in rows:
                    damaged(StoreError(f"{self._named.format(id=each)} is not in the store"))
            ordered = [rows[each] for each in some if each in rows]
            yield from self.intact(connection, ordered, damaged)

    def intact(
        self, connection: Connection, rows: Collection[AnyRow], damaged: Damaged = refuse
    ) -> Iterator[tuple[AnyRow, R]]:
        """As `read`, for rows that were read already; all columns stand before any others."""
        numbers = [row._mapping[name] for row in rows for name in self._texts]
        hashes = hashes_of_ids(connection, (each for each in numbers if isinstance(each, int)))
        read_text = text_reader(connection)
        for row in rows:
            values = row._mapping
            try:
                with as_written(f"{self._named.format_map(values)} in the store"):
                    self.check(row[: len(self.c)], hashes)
                    record = self._record(values, read_text)
            except StoreError as error:
                damaged(error)
            else:
                yield row, record

    def check(self, row: Sequence[Any], hashes: Mapping[int, bytes] = MappingProxyType({})) -> None:
        """Raise StoreError if a row, with all columns, was altered; `hashes` are those of texts."""
        try:
            is_same = self._seal(row[len(self._numbered) : -1], hashes) == row[-1]
        except TypeError:  # an altered row may hold any value
            is_same = False
        if not is_same:
            named = self._named.format_map(dict(zip(self.c.keys(), row, strict=True)))
            raise changed(f"{named} in the store")

    def _record(self, row: Mapping[Any, Any], read_text: Callable[[int], str]) -> R:
        values = {name: row[name] for name in self.record.model_fields}
        for name in (*self._json, *self._texts):
            if values[name] is not None:
                text = read_text(values[name]) if name in self._texts else values[name]
                values[name] = orjson.loads(text)
        return self.record.model_validate(values)

    def _seal(self, values: Sequence[Any], hashes: Mapping[int, bytes]) -> str:
        """The seal of a row; empty columns do not count, so that a column can be added later."""
        covered = dict(zip(self._covered, values, strict=True))
        for name in self._texts:
            if covered[name] is not None:
                covered[name] = hashes.get(covered[name], b"").hex()
        if None in values:
            covered = {name: value for name, value in covered.items() if value is not None}
        return seal(covered)


def _stored(value: object, kind: TypeEngine[Any]) -> Any:
    """A value, without keys, as a column of this type stores it, and as the seal covers it."""
    match value:
        case Enum():
            return value.value
        case tuple() | dict():
            return without_keys(canonical_json(value))
        case str():
            return without_keys(value)
        case int() | float():
            return float(value) if isinstance(kind, Real) else int(value)
        case _:
            return value


_TYPES: Mapping[type, TypeEngine[Any]] = {
    str: PlainText(),
    int: Whole(),
    bool: Whole(),
    float: Real(),
}


def column(name: str, annotation: Any) -> Column[Any]:
    """The column of a field."""
    kind = _without_none(annotation)
    is_optional = kind is not annotation
    if kind is TextId or _is_object(kind):
        return Column(name, Whole, ForeignKey("text.id"), nullable=is_optional)
    plain = next((each for each in _TYPES if _is_subclass(kind, each)), str)
    return Column(name, _TYPES[plain], nullable=is_optional)


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    return next(each for each in get_args(annotation) if each is not type(None))


def _is_object(annotation: Any) -> bool:
    kind = _without_none(annotation)
    return get_origin(kind) is Mapping or _is_subclass(kind, Record)


def _is_subclass(kind: Any, of: type) -> bool:
    # bool is an int, too, but StrEnum is text.
    return isinstance(kind, type) and issubclass(kind, of) and (kind is bool) == (of is bool)
