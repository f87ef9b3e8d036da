"""The tables whose rows are not one record each; those are in `SealedTable`s.

Values that are searched for in SQL have a column of their own; `seal` is a digest of its row's
content. Hashes, seals and call identities are stored as bytes (`hex(column)` shows them); ids of
campaigns, conversations, evaluators and evaluations are text, since people type them. Repeated
content (prompt parts, parameters, settings) is a row of `text`, and other rows have its number.
"""

from typing import ClassVar

from sqlalchemy import Column, Connection, Table, select
from sqlmodel import Field, SQLModel

from recjury.errors import StoreError
from recjury.store.column_types import Hex, PlainText, Real


class SchemaRow(SQLModel, table=True):
    """The number of the store's schema, in one row, with the secret of the answers' codes.

    `seal` is a digest over both.
    """

    __tablename__ = "schema_version"

    number: int = Field(primary_key=True)
    secret: bytes
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class TextRow(SQLModel, table=True):
    """A text, stored once. `hash` is SHA-256 over its UTF-8 bytes, and `size` their number.

    `body` is zlib-compressed if that is smaller. So it is compressed exactly if it is shorter than
    `size`, which is the convention that SQLite's own `sqlar_uncompress(body, size)` reads.
    """

    __tablename__ = "text"

    id: int | None = Field(default=None, primary_key=True)
    hash: str = Field(sa_column=Column(Hex, nullable=False, unique=True))
    size: int
    body: bytes


class StageRow(SQLModel, table=True):
    """A finished stage of an evaluation, or "converse" of a conversation (`unit`).

    It is written together with the results of the stage. `seal` is a digest over the row itself and
    the seals of all those rows, so that a deleted row is noticed.
    """

    __tablename__ = "stage"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    unit: str = Field(primary_key=True, sa_type=PlainText)
    stage: str = Field(primary_key=True, sa_type=PlainText)
    finished_at: float = Field(sa_type=Real)
    seal: str = Field(sa_column=Column(Hex, nullable=False))


def table_of(model: type[SQLModel]) -> Table:
    """The SQLAlchemy table of a model, for queries that need rows and not objects."""
    return SQLModel.metadata.tables[str(model.__tablename__)]


def one_id(connection: Connection, ids: Column[str], prefix: str, what: str) -> str:
    """The only value of a column of ids that begins with `prefix`; StoreError for none or
    several."""
    query = select(ids).where(ids.startswith(prefix, autoescape=True)).limit(2)
    found = tuple(connection.execute(query).scalars())
    if len(found) != 1:
        many = f"several {what}s begin" if found else f"no {what} begins"
        raise StoreError(f"{many} with {prefix}: give more of the id")
    return found[0]
