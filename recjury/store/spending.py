"""What the processes that run a campaign have taken of its budget: none of it is a result."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from sqlalchemy import delete, select, update
from sqlmodel import Field, SQLModel

from recjury.records import Elsewhere
from recjury.store.call_counts import read_spent
from recjury.store.column_types import PlainText, Real
from recjury.store.engine import insert_new, insert_or_replace
from recjury.store.tables import table_of
from recjury.store.writer import Transaction

_EARLIER = ""
"""Instead of a process: all calls that were made before the first one of this run began."""


class SpendingRow(SQLModel, table=True):
    """What a process (`worker`) has spent, and reserved for its open calls: dollars or tokens."""

    __tablename__ = "spending"

    campaign: str = Field(primary_key=True, sa_type=PlainText)
    unit: str = Field(primary_key=True, sa_type=PlainText)
    worker: str = Field(primary_key=True, sa_type=PlainText)
    spent: float = Field(sa_type=Real)
    reserved: float = Field(sa_type=Real)


_SPENDING = table_of(SpendingRow)


class Own(NamedTuple):
    """What a process has `spent` of the `limit`, and had when it last wrote (`written`).

    `before` of it is among the calls of earlier runs: those that it had made when it was taken for
    dead, and nobody else ran the campaign.
    """

    spent: float
    limit: float
    written: float = 0.0
    before: float = 0.0


def write_spending(
    transaction: Transaction,
    about: tuple[str, str, str],
    others: int,
    own: Own,
    reserve: Callable[[Elsewhere], float],
) -> tuple[Elsewhere, float]:
    """As `Ledger.write`; returns `Own.before` as well. `about` are campaign, unit and process.

    `others` more processes run the campaign.
    """
    connection, (campaign, unit, worker) = transaction.connection, about
    row: dict[str, Any] = {"campaign": campaign, "unit": unit, "reserved": 0.0}
    here = (_SPENDING.c.campaign == campaign, _SPENDING.c.unit == unit)
    entries = {each.worker: each for each in connection.execute(select(_SPENDING).where(*here))}
    mine, elsewhere = entries.pop(worker, None), entries.values()
    spent = sum(each.spent for each in elsewhere)
    if _EARLIER not in entries:
        spent += (earlier := read_spent(connection, campaign).amount(in_tokens=unit == "tokens"))
        connection.execute(insert_new(_SPENDING), {**row, "worker": _EARLIER, "spent": earlier})
    before = own.written if mine is None else own.before
    there = Elsewhere(spent - before, sum(each.reserved for each in elsewhere), others)
    reserved = reserve(there)
    if not others:
        reserved = max(reserved, own.limit - there.spent - own.spent)
    values = {**row, "worker": worker, "spent": own.spent - before, "reserved": reserved}
    connection.execute(insert_or_replace(_SPENDING), values)
    return there, before


def free_reserved(transaction: Transaction, campaign: str, living: Collection[str]) -> None:
    """Free what all processes but these had reserved. What they have spent stays: one that lives
    again writes it anew."""
    gone = (_SPENDING.c.campaign == campaign, _SPENDING.c.worker.not_in(living))
    transaction.connection.execute(update(_SPENDING).where(*gone).values(reserved=0.0))


def forget_spending(transaction: Transaction, campaign: str) -> None:
    """Forget all that was taken, once nobody runs the campaign: its calls say what was spent."""
    here = delete(_SPENDING).where(_SPENDING.c.campaign == campaign)
    transaction.connection.execute(here)
