"""A store in a database of PostgreSQL."""

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, select
from sqlalchemy.exc import ArgumentError

from recjury.errors import UserError
from recjury.store.failures import in_one_line
from recjury.store.tables import NO_STORE, SCHEMA, Meta, Row, make_tables

_LOCK = 0x7265636A  # any number, but the same for all that write to a store


class Server:
    """A database of PostgreSQL, by its URL."""

    in_memory = is_gone = False

    def __init__(self, url: str, *, readonly: bool = False):
        """Raises UserError if there is no store, or one of another version."""
        self._url, self.readonly = _parsed(url), readonly
        with in_one_line(str(self)):
            self._prepare()

    def __str__(self) -> str:
        """The URL without its password."""
        return self._url.render_as_string(hide_password=True)

    def engine(self) -> Engine:
        """An engine whose writers, in all processes, take turns; its readers see one moment."""
        try:
            engine = create_engine(self._url)
        except ModuleNotFoundError:
            raise UserError(f"{self}: pip install 'recjury[postgres]' for its driver") from None
        event.listen(engine, "begin", _begin)
        return engine

    def _prepare(self) -> None:
        engine = self.engine()
        try:
            with engine.execution_options(begin="IMMEDIATE").begin() as connection:
                self._make(connection)
                key, value = Meta.__table__.c.key, Meta.__table__.c.value
                version = connection.execute(select(value).where(key == "schema")).scalar()
        finally:
            engine.dispose()
        if version != str(SCHEMA):
            raise UserError(
                f"{self} has tables of version {version}, and this recjury those of {SCHEMA}: "
                "use the recjury that wrote it, or name another database"
            )

    def _make(self, connection: Connection) -> None:
        """Make the tables if the database is empty."""
        tables = inspect(connection).get_table_names()
        if tables and not Row.metadata.tables.keys() <= {*tables}:
            raise UserError(f"{self} {NO_STORE}")
        if not tables:
            if self.readonly:
                raise UserError(f"{self} is empty: no run has written to it")
            make_tables(connection)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UserError(f"{url!r} is no database URL: dialect://user:password@host/name") from None
    if parsed.get_backend_name() != "postgresql":
        raise UserError(
            f"{parsed.drivername}: stores are files of SQLite, or postgresql://user@host/name"
        )
    if parsed.drivername == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    return parsed


def _begin(connection: Connection) -> None:
    if connection.get_execution_options().get("begin") == "IMMEDIATE":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    else:
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
