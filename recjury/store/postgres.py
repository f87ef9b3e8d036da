"""Everything specific to PostgreSQL: its connections and transactions.

Writers take turns, as in SQLite, so that rows that two of them add at once cannot lock each other
out. Readers see the store as it was when their transaction began.
"""

from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from recjury.errors import StoreError
from recjury.safe_text import hide_secret
from recjury.store.engine import BUSY_SECONDS, WRITES, for_writing, one_line_errors
from recjury.store.location import StoreLocation
from recjury.store.schema import create_tables

_CONNECT_SECONDS = 10
_WRITE_LOCK = 0x7265636A
"""The advisory lock of recjury's writers in a database: any number that others do not take."""


class PostgresDatabase(StoreLocation):
    """A store in a database of PostgreSQL, which must be there already."""

    def __init__(self, url: URL):
        """Raises StoreError for a URL without the name of a database."""
        if not url.database:
            raise StoreError(
                "name the database, such as postgresql://user@host/recjury; createdb makes one"
            )
        self._url = url.set(drivername="postgresql+psycopg")
        if url.password:
            hide_secret(str(url.password))

    def __str__(self) -> str:
        """The URL without its user and password."""
        url = self._url
        return URL.create(
            "postgresql", host=url.host, port=url.port, database=url.database
        ).render_as_string()

    def connect(self, *, read_only: bool = False) -> Engine:
        """As `StoreLocation.connect`."""
        try:
            engine = create_engine(
                self._url,
                paramstyle="format",  # by place, as SQLite's, for what uses the driver alone
                isolation_level="REPEATABLE READ",
                connect_args={"connect_timeout": _CONNECT_SECONDS, "application_name": "recjury"},
            )
        except ImportError:
            raise StoreError(
                "a store in PostgreSQL needs the driver: pip install 'recjury[postgres]'"
            ) from None
        if read_only:
            event.listen(engine, "connect", _refuse_changes)
        event.listen(engine, "begin", _begin)
        return engine

    @property
    def exists(self) -> bool:
        """Whether the database has tables. Raises StoreError if it cannot be reached."""
        engine = self.connect(read_only=True)
        try:
            with one_line_errors(self), engine.connect() as connection:
                return bool(inspect(connection).get_table_names())
        finally:
            engine.dispose()

    def make(self) -> None:
        """As `StoreLocation.make`. Only one process at a time makes it: that is a write."""
        if self.exists:  # who only reads does not wait for who writes
            return
        engine = self.connect()
        try:
            with engine.connect() as connection, for_writing(connection).begin():
                if not inspect(connection).get_table_names():
                    create_tables(connection)
        finally:
            engine.dispose()


def _refuse_changes(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    driver: Any = connection
    driver.read_only = True


def _begin(connection: Connection) -> None:
    if connection.get_execution_options().get(WRITES, False):
        # What others wrote before the lock was free must be seen: not the view of the lock's query.
        connection.exec_driver_sql(
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; "
            f"SET LOCAL lock_timeout = '{BUSY_SECONDS:.0f}s'; "
            # A machine that is lost keeps the lock for 20 s: fewer than others wait for it.
            "SET LOCAL tcp_keepalives_idle = 10; SET LOCAL tcp_keepalives_interval = 5; "
            "SET LOCAL tcp_keepalives_count = 2; "
            f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})"
        )
