"""A store's URL, or the path of its file."""

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from recjury.errors import StoreError
from recjury.store.location import StoreLocation
from recjury.store.postgres import PostgresDatabase
from recjury.store.sqlite_file import SqliteFile

_EXPECTED = "expected a store like sqlite:///runs.db or postgresql://user@host/database"


def location_of(url: str) -> StoreLocation:
    """The place that `url` means: `sqlite:///relative`, `sqlite:////absolute`, a plain path, or
    `postgresql://user@host:port/database`.

    Raises StoreError for another database, and for one in memory, which threads cannot share.
    """
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
            return PostgresDatabase(parsed)
        case _:
            raise StoreError(f"{_EXPECTED}, got {parsed.drivername}://")


def _file(parsed: URL, url: str) -> str:
    if parsed.query:
        raise StoreError(f"a store's URL takes no options: leave out what follows ? in {url}")
    if parsed.host:
        raise StoreError(f"a store is a local file: expected sqlite:///{parsed.host}, got {url}")
    return parsed.database or ""
