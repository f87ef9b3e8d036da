"""Where a store is: a file of SQLite, or a database of PostgreSQL."""

from abc import ABC, abstractmethod

from sqlalchemy import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError

from recjury.errors import StoreError
from recjury.store.column_types import WrongTypeError

_EXPECTED = "expected a store like sqlite:///runs.db or postgresql://user@host/database"


class Place(ABC):
    """Where a store is, or is to be made. `str` shows it without a password."""

    @abstractmethod
    def connect(self, *, read_only: bool = False) -> Engine:
        """An engine on the store; nothing is opened yet. With `read_only` nothing can be changed.

        Raises StoreError if the database's driver is not installed.
        """

    @property
    @abstractmethod
    def exists(self) -> bool:
        """Whether there is anything: a store, or something else that is not empty.

        Raises StoreError if that cannot be found out.
        """

    @abstractmethod
    def make(self) -> None:
        """Make the store if there is none. Raises StoreError, OSError and the driver's errors."""

    def wrong_value(self) -> WrongTypeError | None:
        """The error that names the first value of another type than its column's, or None.

        Only SQLite stores such values.
        """
        return None


def place_of(url: str) -> Place:
    """The place that `url` means: `sqlite:///relative`, `sqlite:////absolute`, a plain path, or
    `postgresql://user@host:port/database`.

    Raises StoreError for another database, and for one in memory, which threads cannot share.
    """
    from recjury.store.sqlite_file import SqliteFile

    if "://" not in url and not url.startswith("sqlite:"):
        return SqliteFile.named(url, url)
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError(f"{_EXPECTED}, got {url}") from None
    match parsed.get_backend_name():
        case "sqlite":
            return SqliteFile.named(_file(parsed, url), url)
        case "postgresql" | "postgres":
            from recjury.store.postgres import PostgresDatabase

            return PostgresDatabase(parsed)
        case _:
            raise StoreError(f"{_EXPECTED}, got {parsed.drivername}://")


def _file(parsed: URL, url: str) -> str:
    if parsed.query:
        raise StoreError(f"a store's URL takes no options: leave out what follows ? in {url}")
    if parsed.host:
        raise StoreError(f"a store is a local file: expected sqlite:///{parsed.host}, got {url}")
    return parsed.database or ""
