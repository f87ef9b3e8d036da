"""Export a store to files that other tools read: all tables, and the conversations whole."""

import os
import tempfile
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import get_args

from recjury.errors import ConfigError, StoreError
from recjury.results.conversations import write_conversations
from recjury.results.file_formats import FILES, Format, require_arrow
from recjury.results.tables import Table, tables
from recjury.store import Store

CONVERSATIONS = "conversations.jsonl"
_AT_ONCE = 500  # conversations whose results are in memory
_TAKEN = {CONVERSATIONS: "conversation_scores.jsonl"}


def export(store: Store, folder: Path, format: Format, campaign: str | None = None) -> list[Path]:  # noqa: A002
    """Write conversations, evaluations, turns, ratings, statements and calls (without prompts), a
    file each, and `conversations.jsonl`, from which `recjury judge` can judge them again.

    That file stands there in every format, and the table that would have its name is
    `conversation_scores.jsonl`. `campaign` is a campaign's id; None exports the whole store.
    Files of an earlier export are replaced once all new ones are written. Raises ConfigError for
    another format, for Parquet without the extra `frames`, for a `folder` that is none, and where
    something that is no regular file has the name of one to write. Raises StoreError where the
    folder cannot be written or a row is not as it was written.
    """
    if format not in FILES:
        raise ConfigError(f"format must be one of {', '.join(get_args(Format))}, got {format}")
    if format == "parquet":
        require_arrow("--format parquet")
    if os.path.lexists(folder) and not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder: name another")
    named = {f"{table.name}.{format}": table for table in tables(store, campaign)}
    named = {_TAKEN.get(name, name): table for name, table in named.items()}
    for place in (folder / name for name in (*named, CONVERSATIONS)):
        if os.path.lexists(place) and not place.is_file():
            raise ConfigError(f"{place} is not a regular file: name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".export-") as unfinished:
            place = Path(unfinished)
            _write({place / name: table for name, table in named.items()}, store, format, campaign)
            write_conversations(place / CONVERSATIONS, store, campaign)
            return [(place / n).replace(folder / n) for n in (*named, CONVERSATIONS)]
    except OSError as error:
        raise StoreError(f"cannot export to {folder}: {error}") from error


def _write(named: dict[Path, Table], store: Store, format: Format, campaign: str | None) -> None:  # noqa: A002
    with ExitStack() as stack:
        files = [
            (table, stack.enter_context(FILES[format](path, table.fields)))
            for path, table in named.items()
        ]
        results = store.results(campaign)
        while some := tuple(islice(results, _AT_ONCE)):
            for table, write in files:
                if table.in_parts:
                    write(table.rows(some))
        for table, write in files:
            if not table.in_parts:
                write(table.rows(store.results(campaign)))
