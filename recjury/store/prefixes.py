"""Ids that people type, found by how they begin."""

from sqlalchemy import Connection, select
from sqlmodel import SQLModel

from recjury.errors import StoreError
from recjury.store.tables import table_of


def one_id(connection: Connection, model: type[SQLModel], prefix: str, what: str) -> str:
    """The one id of a model's rows that begins so; StoreError if no `what` has it, or several."""
    ids = table_of(model).c.id
    query = select(ids).where(ids.startswith(prefix, autoescape=True)).limit(2)
    found = tuple(connection.execute(query).scalars())
    if len(found) != 1:
        many = f"several {what}s begin" if found else f"no {what} begins"
        raise StoreError(f"{many} with {prefix}: give more of the id")
    return str(found[0])
