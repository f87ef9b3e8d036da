"""The schema of a store: whether a file has it, and how a new one gets it.

Migrations are the named files in `migrations/versions`. A store that is missing is made in a
temporary file beside it, under a lock, and renamed when it is whole: processes that start at once
on a new store wait for each other, and one that is killed leaves no half of a store.
"""

import contextlib
import os
import secrets
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, inspect

from recjury.errors import StoreError
from recjury.store.engine import connect, for_writing, use_write_ahead_log

_FOLDER = Path(__file__).parent / "migrations"
# Versions before 0.2 were never released; their stores are not brought up to date.
_EARLIER = ("0001_initial", "0002_face", "0003_unfinished", "0004_apart", "0005_attempts",
            "0006_waited")  # fmt: skip
_ALEMBIC = threading.Lock()
"""Alembic keeps what it works on in global variables."""


def revisions() -> tuple[str, ...]:
    """The names of all migrations, oldest first; each is its file's name."""
    return tuple(sorted(file.stem for file in (_FOLDER / "versions").glob("[0-9]*.py")))


def check_schema(connection: Connection) -> None:
    """Raise StoreError for another schema than this version's, and for another database."""
    current = _current(connection)
    known = revisions()[-1]
    if current == known:
        return
    if current in _EARLIER:
        raise StoreError(
            f"the store has the schema {current} of an earlier recjury: export it with that "
            "version (`recjury export DIR`), and judge DIR/conversations.jsonl with this one"
        )
    raise StoreError(
        f"the store's schema is {current}, newer than {known}, the newest this version "
        f"of recjury knows: update recjury, or name another store"
    )


def make_store(path: Path) -> None:
    """Make the store at `path` if there is none. Raises StoreError."""
    if has_content(path):
        return
    with _making(path):
        if has_content(path):
            return
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
        engine = connect(unfinished)
        try:
            with engine.connect() as connection:
                with for_writing(connection).begin():
                    _upgrade(connection)
                use_write_ahead_log(connection)
            engine.dispose()
            os.replace(unfinished, path)
        finally:
            engine.dispose()
            for leftover in unfinished.parent.glob(f"{unfinished.name}*"):
                leftover.unlink(missing_ok=True)


def has_content(path: Path) -> bool:
    """Whether there is more than an empty file, which SQLite takes for a new database."""
    return path.is_file() and path.stat().st_size > 0


@contextlib.contextmanager
def _making(path: Path) -> Iterator[None]:
    """Wait until no other process makes this store."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    # The folder is locked, which needs no file of its own that would have to be removed.
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _upgrade(connection: Connection) -> None:
    """Run all migrations; `connection` is in a transaction that holds the write lock."""
    # Alembic takes a third of a second to import, and most stores exist.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    with _ALEMBIC:
        command.upgrade(config, "head")


def _current(connection: Connection) -> str | None:
    tables = inspect(connection).get_table_names()
    if "alembic_version" in tables:
        row = connection.exec_driver_sql("SELECT version_num FROM alembic_version").first()
        return None if row is None else str(row[0])
    if tables:
        raise StoreError(
            f"expected a recjury store, got another database (with table {tables[0]}): "
            f"name another file"
        )
    return None
