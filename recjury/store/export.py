"""Export a store to files that other tools read: all tables of `exported_tables`, or none."""

import os
import tempfile
from pathlib import Path
from typing import get_args

from recjury.errors import ConfigError, StoreError
from recjury.store.exported_tables import TABLES
from recjury.store.file_formats import WRITERS, Format
from recjury.store.store import Store


def export(store: Store, folder: Path, format: Format, campaign: str | None = None) -> list[Path]:  # noqa: A002
    """Write trials, turns, ratings, statements and calls (without prompts), a file each.

    `campaign` is a campaign's id; None exports the whole store. Files of an earlier export are
    replaced once all new ones are written. Raises ConfigError for another format, for what is
    no folder, and where something that is no regular file has a table's name, StoreError where
    the folder cannot be written or a row is not as it was written.
    """
    if format not in WRITERS:
        raise ConfigError(f"format must be one of {', '.join(get_args(Format))}, got {format}")
    if os.path.lexists(folder) and not folder.is_dir():
        raise ConfigError(f"{folder} is no folder: name another")
    for table in TABLES:
        place = folder / f"{table.name}.{format}"
        if os.path.lexists(place) and not place.is_file():
            raise ConfigError(f"{place} is no regular file: name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".export-") as unfinished:
            written = []
            for table in TABLES:
                path = Path(unfinished) / f"{table.name}.{format}"
                WRITERS[format](path, table.fields, table.rows(store, campaign))
                written.append(path)
            return [path.replace(folder / path.name) for path in written]
    except OSError as error:
        raise StoreError(f"cannot export to {folder}: {error}") from error
