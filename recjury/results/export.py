"""The tables of a store for other tools: as files with complete conversations, or as Arrow."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

import orjson

from recjury.corpora import Recording, conversation_row
from recjury.errors import ConfigError, StoreError
from recjury.records import JSON
from recjury.results.file_formats import (
    FILES,
    Format,
    arrow_batches,
    arrow_schema,
    require_arrow,
)
from recjury.results.tables import ExportTable, tables
from recjury.safe_text import without_keys
from recjury.store import Store
from recjury.store.choice import require

if TYPE_CHECKING:
    import pyarrow as pa

CONVERSATIONS = "conversations.jsonl"
_AT_ONCE = 500  # conversations whose results are in memory
_TAKEN = {CONVERSATIONS: "conversation_scores.jsonl"}


def export(
    store: Store,
    folder: Path,
    format: Format,  # noqa: A002
    campaign: str | None = None,
    conversations: Sequence[str] | None = None,
) -> list[Path]:
    """Write one file for each table, and `conversations.jsonl`.

    The tables are conversations, evaluations, turns, ratings, evidence, statements and calls
    (without prompts). `recjury judge` can read `conversations.jsonl` to judge the conversations
    again. This file is written for every format; the table that would have its name becomes
    `conversation_scores.jsonl`. `campaign` is a campaign's id; None exports the whole store. With
    ids of `conversations`, the files are about these. Files of an earlier export are replaced when
    all new ones are written. Raises ConfigError for an unknown format, for Parquet without the
    extra `frames`, if `folder` is not a folder, and if a file to write has the name of something
    that is not a regular file. Raises StoreError if the folder cannot be written or a row of the
    store is damaged.
    """
    if format not in FILES:
        raise ConfigError(f"format must be one of {', '.join(get_args(Format))}, got {format}")
    if format == "parquet":
        require_arrow("--format parquet")
    if os.path.lexists(folder) and not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder: name another")
    named = {f"{table.name}.{format}": table for table in tables(store, campaign, conversations)}
    named = {_TAKEN.get(name, name): table for name, table in named.items()}
    for place in (folder / name for name in (*named, CONVERSATIONS)):
        if os.path.lexists(place) and not place.is_file():
            raise ConfigError(f"{place} is not a regular file: name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".export-") as unfinished:
            place = Path(unfinished)
            placed = {place / name: table for name, table in named.items()}
            _write(placed, store, format, campaign, conversations)
            _write_conversations(place / CONVERSATIONS, store, campaign, conversations)
            return [(place / n).replace(folder / n) for n in (*named, CONVERSATIONS)]
    except OSError as error:
        raise StoreError(f"cannot export to {folder}: {error}") from error


def _write(
    named: dict[Path, ExportTable],
    store: Store,
    form: Format,
    campaign: str | None,
    ids: Sequence[str] | None,
) -> None:
    with ExitStack() as stack:
        files = [
            (table, stack.enter_context(FILES[form](path, table.fields)))
            for path, table in named.items()
        ]
        results = store.results(campaign, conversations=ids)
        while some := tuple(islice(results, _AT_ONCE)):
            for table, write in files:
                if table.in_parts:
                    write(table.rows(some))
        for table, write in files:
            if not table.in_parts:
                write(table.rows(store.results(campaign, conversations=ids, whole=False)))


def _write_conversations(
    path: Path, store: Store, campaign: str | None = None, ids: Sequence[str] | None = None
) -> None:
    """Write all finished conversations in full, one JSON object per line."""
    with path.open("wb") as file:
        for each in _recordings(store, campaign, ids):
            row = orjson.dumps(conversation_row(each), option=orjson.OPT_APPEND_NEWLINE)
            file.write(without_keys(row.decode()).encode())


def _recordings(
    store: Store, campaign: str | None, ids: Sequence[str] | None
) -> Iterator[Recording]:
    for each in store.planned(campaign, ids):
        record = store.record(each.id)
        if record is not None:
            yield Recording(
                log=record.log,
                identity=each.id,
                repeat=each.repeat,
                seed=each.seed,
                settings=cast("Mapping[str, JSON]", each.settings),
                seconds=record.seconds,
                costs=record.costs,
            )


def frame(
    store: Store,
    name: str,
    campaign: str | None = None,
    conversations: Sequence[str] | None = None,
) -> "pa.Table":
    """One table: conversations, evaluations, turns, ratings, evidence, statements or calls.

    `campaign` is a campaign's id; None means the whole store. With ids of `conversations`, the rows
    are about these. A row has the ids of its
    conversation, evaluation, evaluator and metric, if it belongs to one. Raises StoreError for
    another `name` and for a damaged row, and ConfigError without the extra `frames`.
    """
    require_arrow("a frame")
    import pyarrow as pa

    by_name = {table.name: table for table in tables(store, campaign, conversations)}
    require("table", [name], by_name)
    table = by_name[name]
    schema = arrow_schema(table.fields)
    whole = table.needs_whole
    rows = table.rows(store.results(campaign, conversations=conversations, whole=whole))
    return pa.Table.from_batches(arrow_batches(schema, rows), schema=schema)
