"""A store's URL, or the path of its file."""

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from recjury.errors import StoreError
from recjury.store.location import StoreLocation
from recjury.store.postgres import PostgresDatabase
from recjury.store.sqlite_file import SqliteFile

_SCHEMES = ("sqlite:", "postgresql:", "postgres:")
_EXPECTED = "expected a store like sqlite:///runs.db or postgresql://user@host/database"


def location_of(url: str) -> StoreLocation:
    """The place that `url` means: `sqlite:///relative`, `sqlite:////absolute`, a plain path, or
    `postgresql://user@host:port/database`.

    Raises StoreError for another database, and for one in memory, which threads cannot share. It
    never shows the URL, which may have a password.
    """
    if "://" not in url and not url.startswith(_SCHEMES):
        return SqliteFile.named(url)
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # the latter for a port
        raise StoreError(f"{_EXPECTED}, got a URL that cannot be read") from None
    match parsed.get_backend_name():
        case "sqlite":
            return SqliteFile.named(_file(parsed))
        case "postgresql" | "postgres":
            return PostgresDatabase(parsed)
        case _:
            raise StoreError(f"{_EXPECTED}, got {parsed.drivername}://")


def _file(parsed: URL) -> str:
    if parsed.query:
        raise StoreError("a file's URL takes no options: leave out what follows ?")
    if parsed.host or parsed.username:
        name = parsed.host or parsed.database
        raise StoreError(f"a store is a local file: expected sqlite:///{name}")
    return parsed.database or ""
