"""What the processes that run a campaign have taken of its budget: none of it is a result."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, delete, func, select, update
from sqlmodel import Field, SQLModel

from recjury.records import Elsewhere
from recjury.store.call_counts import read_spent
from recjury.store.column_types import PlainText, Real
from recjury.store.engine import insert_new, insert_or_replace
from recjury.store.tables import table_of
from recjury.store.writer import Transaction

_ENDED = ""
"""Instead of a process: all that have ended, in this run and in earlier ones."""


class SpendingRow(SQLModel, table=True):
    """What a process (`worker`) has spent, and reserved for its open calls: dollars or tokens."""

    __tablename__ = "spending"

    campaign: str = Field(primary_key=True, sa_type=PlainText)
    unit: str = Field(primary_key=True, sa_type=PlainText)
    worker: str = Field(primary_key=True, sa_type=PlainText)
    spent: float = Field(sa_type=Real)
    reserved: float = Field(sa_type=Real)


_SPENDING = table_of(SpendingRow)


def write_spending(
    transaction: Transaction,
    about: tuple[str, str, str],
    others: int,
    own: tuple[float, float],
    reserve: Callable[[Elsewhere], float],
) -> Elsewhere:
    """As `Ledger.write`; `about` are campaign, unit and process, and `own` is what it has spent,
    and the limit. `others` more processes live."""
    connection, (campaign, unit, worker), (spent, limit) = transaction.connection, about, own
    row: dict[str, Any] = {"campaign": campaign, "unit": unit, "reserved": 0.0}
    if not _has_begun(connection, campaign, unit):
        before = read_spent(connection, campaign).amount(in_tokens=unit == "tokens")
        connection.execute(insert_new(_SPENDING), {**row, "worker": _ENDED, "spent": before})
    there = _elsewhere(connection, about)._replace(others=others)
    reserved = reserve(there)
    if not others:
        reserved = max(reserved, limit - there.spent - spent)
    values = {**row, "worker": worker, "spent": spent, "reserved": reserved}
    connection.execute(insert_or_replace(_SPENDING), values)
    return there


def _has_begun(connection: Connection, campaign: str, unit: str) -> bool:
    here = (_SPENDING.c.campaign == campaign, _SPENDING.c.unit == unit)
    return connection.execute(select(_SPENDING.c.unit).where(*here)).first() is not None


def _elsewhere(connection: Connection, about: tuple[str, str, str]) -> Elsewhere:
    campaign, unit, worker = about
    here = (_SPENDING.c.campaign == campaign, _SPENDING.c.unit == unit)
    query = select(func.sum(_SPENDING.c.spent), func.sum(_SPENDING.c.reserved))
    spent, reserved = connection.execute(query.where(*here, _SPENDING.c.worker != worker)).one()
    return Elsewhere(spent or 0.0, reserved or 0.0)


def end_spending(transaction: Transaction, campaign: str, worker: str) -> None:
    """Free what a process had reserved. What it has spent stays."""
    connection = transaction.connection
    here = (_SPENDING.c.campaign == campaign, _SPENDING.c.worker == worker)
    for row in connection.execute(select(_SPENDING).where(*here)).all():
        ended = (_SPENDING.c.campaign == campaign, _SPENDING.c.unit == row.unit)
        change = update(_SPENDING).where(*ended, _SPENDING.c.worker == _ENDED)
        connection.execute(change.values(spent=_SPENDING.c.spent + row.spent))
    connection.execute(delete(_SPENDING).where(*here))


def forget_spending(transaction: Transaction, campaign: str) -> None:
    """Forget all that was taken, once nobody runs the campaign: its calls say what was spent."""
    here = delete(_SPENDING).where(_SPENDING.c.campaign == campaign)
    transaction.connection.execute(here)
