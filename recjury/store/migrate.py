"""Upgrade a store's schema to this version's, with the named migrations in
`migrations/versions`."""

from pathlib import Path

from sqlalchemy import Connection, inspect

from recjury.errors import StoreError

_FOLDER = Path(__file__).parent / "migrations"


def revisions() -> tuple[str, ...]:
    """The names of all migrations, oldest first; each is its file's name."""
    return tuple(sorted(file.stem for file in (_FOLDER / "versions").glob("[0-9]*.py")))


def is_current(connection: Connection) -> bool:
    """Whether all migrations have run. The check takes no lock."""
    return _current(connection) == revisions()[-1]


def upgrade(connection: Connection, *, to: str | None = None) -> None:
    """Run the missing migrations, up to the one named `to` (default: the newest).

    `connection` must be in a transaction that holds the write lock: another process that opens
    the same store then waits, and finds nothing left to do. Raises StoreError for a schema that
    this version does not know, and for a database that is not a store.
    """
    known = revisions()
    target = to if to is not None else known[-1]
    current = _current(connection)
    if current == target:
        return
    if current is not None and current not in known:
        raise StoreError(
            f"the store's schema is {current}, newer than {known[-1]}, the newest this version "
            f"of recjury knows: update recjury, or name another store"
        )
    # Alembic takes a third of a second to import, and most stores are up to date.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, target)


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
