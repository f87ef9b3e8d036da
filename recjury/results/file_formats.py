"""Rows as CSV, JSON lines or Parquet. Text is written unchanged."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import orjson

from recjury.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa

Cell = str | int | float | bool | None
Kind = Literal["text", "integer", "number", "truth"]
Format = Literal["csv", "jsonl", "parquet"]
Write = Callable[[Iterable[Sequence[Cell]]], None]

_ROWS_AT_ONCE = 2000


class Field(NamedTuple):
    """A column: its name, and the type of its cells that are not empty."""

    name: str
    kind: Kind


@contextmanager
def csv_file(path: Path, fields: Sequence[Field]) -> Iterator[Write]:
    """RFC 4180 with a header, UTF-8. All text is quoted, so that "" is not a missing value.

    Text that a spreadsheet would read as a formula is not changed: import such columns as text.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(_quoted(field.name) for field in fields) + "\r\n")
        yield lambda rows: file.writelines(",".join(map(_csv_cell, row)) + "\r\n" for row in rows)


def _csv_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return _quoted(cell) if isinstance(cell, str) else repr(cell)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@contextmanager
def jsonl_file(path: Path, fields: Sequence[Field]) -> Iterator[Write]:
    """One JSON object per line, UTF-8; a missing value is null."""
    names = [field.name for field in fields]
    with path.open("wb") as file:
        yield lambda rows: file.writelines(
            orjson.dumps(dict(zip(names, row, strict=True)), option=orjson.OPT_APPEND_NEWLINE)
            for row in rows
        )


@contextmanager
def parquet_file(path: Path, fields: Sequence[Field]) -> Iterator[Write]:
    """Typed columns, at most a few thousand rows per group; a missing value is null."""
    import pyarrow.parquet as pq

    schema = arrow_schema(fields)
    with pq.ParquetWriter(path, schema) as writer:

        def write(rows: Iterable[Sequence[Cell]]) -> None:
            for batch in arrow_batches(schema, rows):
                writer.write_batch(batch)

        yield write


def require_arrow(user: str) -> None:
    """Raise ConfigError, with the command to run, unless the extra `frames` is installed.

    `user` is the feature that needs it, the subject of the message.
    """
    if find_spec("pyarrow") is None:
        raise ConfigError(f"{user} needs pyarrow: run pip install 'recjury[frames]'")


def arrow_schema(fields: Sequence[Field]) -> "pa.Schema":
    """The columns with their types, as Arrow has them."""
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "truth": pa.bool_(),
    }
    return pa.schema([(field.name, types[field.kind]) for field in fields])


def arrow_batches(
    schema: "pa.Schema", rows: Iterable[Sequence[Cell]]
) -> "Iterator[pa.RecordBatch]":
    """The rows as batches of a few thousand."""
    import pyarrow as pa

    for some in _groups(rows):
        columns = zip(*some, strict=True)
        arrays = [pa.array(each, kind) for each, kind in zip(columns, schema.types, strict=True)]
        yield pa.record_batch(arrays, schema=schema)


def _groups(rows: Iterable[Sequence[Cell]]) -> Iterator[Sequence[Sequence[Cell]]]:
    remaining = iter(rows)
    while some := tuple(islice(remaining, _ROWS_AT_ONCE)):
        yield some


FILES: dict[Format, Callable[[Path, Sequence[Field]], AbstractContextManager[Write]]] = {
    "csv": csv_file,
    "jsonl": jsonl_file,
    "parquet": parquet_file,
}
"""The function that opens a file of each format for writing; the name is also the suffix."""
