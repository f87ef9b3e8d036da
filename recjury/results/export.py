"""Export a store to files that other tools read: all tables, and the conversations whole."""

import os
import tempfile
from pathlib import Path
from typing import get_args

from recjury.errors import ConfigError, StoreError
from recjury.results.conversations import write_conversations
from recjury.results.file_formats import WRITERS, Format
from recjury.results.tables import tables
from recjury.store import Store

CONVERSATIONS = "conversations.jsonl"
_TAKEN = {CONVERSATIONS: "conversation_scores.jsonl"}


def export(store: Store, folder: Path, format: Format, campaign: str | None = None) -> list[Path]:  # noqa: A002
    """Write conversations, evaluations, turns, ratings, statements and calls (without prompts), a
    file each, and `conversations.jsonl`, from which `recjury judge` can judge them again.

    That file stands there in every format, and the table that would have its name is
    `conversation_scores.jsonl`. `campaign` is a campaign's id; None exports the whole store.
    Files of an earlier export are replaced once all new ones are written. Raises ConfigError for
    another format, for what is no folder, and where something that is no regular file has a
    file's name, StoreError where the folder cannot be written or a row is not as it was written.
    """
    if format not in WRITERS:
        raise ConfigError(f"format must be one of {', '.join(get_args(Format))}, got {format}")
    if os.path.lexists(folder) and not folder.is_dir():
        raise ConfigError(f"{folder} is no folder: name another")
    named = {f"{table.name}.{format}": table for table in tables(store, campaign)}
    named = {_TAKEN.get(name, name): table for name, table in named.items()}
    for place in (folder / name for name in (*named, CONVERSATIONS)):
        if os.path.lexists(place) and not place.is_file():
            raise ConfigError(f"{place} is no regular file: name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".export-") as unfinished:
            place = Path(unfinished)
            for name, table in named.items():
                WRITERS[format](place / name, table.fields, table.rows())
            write_conversations(place / CONVERSATIONS, store, campaign)
            return [(place / n).replace(folder / n) for n in (*named, CONVERSATIONS)]
    except OSError as error:
        raise StoreError(f"cannot export to {folder}: {error}") from error
