"""The processes that run a campaign, the units that each has leased, and what is asked of them.

Several processes can run one campaign: each leases a unit before it works on it, and finds out what
another one has done meanwhile. A process says every few seconds that it lives, whatever it does;
the leases of one that does not end. It may have been suspended, and goes on when it lives again.
Work that is then done twice does no harm, since what is stored first is kept.
None of this is a result, so these rows have no seals.
"""

import os
import socket
from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, delete, select, update
from sqlmodel import Field, SQLModel

from recjury.records import JSON
from recjury.store.column_types import PlainText, Real, Whole
from recjury.store.engine import insert_new, insert_or_replace
from recjury.store.functions import Now
from recjury.store.spending import forget_spending, free_reserved
from recjury.store.tables import table_of
from recjury.store.writer import Transaction

SILENT_SECONDS = 60.0
"""How long a process may say nothing before its leases end."""


class WorkerRow(SQLModel, table=True):
    """A process that runs a campaign. `seen` is in Unix seconds by the database's clock.

    `process` is its number, which another one can look up if `host` is the same.
    `state` is JSON: what is not in the store, such as which requests are open.
    """

    __tablename__ = "worker"

    id: str = Field(primary_key=True, sa_type=PlainText)
    campaign: str = Field(index=True, sa_type=PlainText)
    host: str = Field(sa_type=PlainText)
    process: int = Field(sa_type=Whole)
    seen: float = Field(sa_type=Real)
    state: str = Field(sa_type=PlainText)


class LeaseRow(SQLModel, table=True):
    """A unit that a process works on, or, with `ended` as 1, has worked on in this run."""

    __tablename__ = "lease"

    campaign: str = Field(primary_key=True, sa_type=PlainText)
    unit: str = Field(primary_key=True, sa_type=PlainText)
    worker: str = Field(index=True, sa_type=PlainText)
    ended: int = Field(sa_type=Whole)


class WishRow(SQLModel, table=True):
    """Settings (JSON) that a process is asked to change, and its answer (JSON) once it has.

    `taken` is 1 from the moment it looks, so that a wish that was withdrawn is never granted.
    """

    __tablename__ = "wish"

    id: str = Field(primary_key=True, sa_type=PlainText)
    worker: str = Field(index=True, sa_type=PlainText)
    settings: str = Field(sa_type=PlainText)
    taken: int = Field(sa_type=Whole)
    answer: str | None = Field(sa_type=PlainText)


_WORKERS, _LEASES, _WISHES = (table_of(each) for each in (WorkerRow, LeaseRow, WishRow))


class Lease(Enum):
    """Whose a unit is: ours, another process's, or nobody's because its work in this run ended."""

    OURS = "ours"
    ELSEWHERE = "elsewhere"
    ENDED = "ended"


def lease(transaction: Transaction, campaign: str, worker: str, unit: str) -> None:
    """Lease a unit for a process, unless another one that lives has it; `whose` says so."""
    row = {"campaign": campaign, "unit": unit, "worker": worker, "ended": 0}
    add = insert_new(_LEASES).values(row).execution_options(preserve_rowcount=True)
    if not transaction.connection.execute(add).rowcount:
        _forget_dead(transaction, campaign, worker)
        here = (_LEASES.c.campaign == campaign, _LEASES.c.unit == unit, _LEASES.c.ended == 0)
        is_of_nobody = _LEASES.c.worker.not_in(select(_WORKERS.c.id))
        transaction.connection.execute(delete(_LEASES).where(*here, is_of_nobody))
        transaction.connection.execute(add)


def whose(connection: Connection, campaign: str, worker: str, unit: str) -> Lease:
    """Who has a unit that was to be leased."""
    query = select(_LEASES.c.worker, _LEASES.c.ended)
    query = query.where(_LEASES.c.campaign == campaign, _LEASES.c.unit == unit)
    row = connection.execute(query).first()
    if row is None:  # it was released meanwhile
        return Lease.ELSEWHERE
    if row.ended:
        return Lease.ENDED
    return Lease.OURS if row.worker == worker else Lease.ELSEWHERE


def end_lease(transaction: Transaction, campaign: str, worker: str, unit: str) -> None:
    """Say that the work on a unit has ended."""
    here = (_LEASES.c.campaign == campaign, _LEASES.c.unit == unit, _LEASES.c.worker == worker)
    transaction.connection.execute(update(_LEASES).where(*here).values(ended=1))


def beat(transaction: Transaction, campaign: str, worker: str, state: Mapping[str, JSON]) -> None:
    """Say that a process lives, and what it does; forget the processes of the campaign that do not.

    A process that was taken for dead meanwhile is known again.
    """
    # Before it is known itself: if no other one lives, what an earlier run has left goes.
    _forget_dead(transaction, campaign, worker)
    row = {
        "id": worker,
        "campaign": campaign,
        "host": _host(),
        "process": os.getpid(),
        "seen": transaction.connection.execute(select(Now())).scalar_one(),
        "state": orjson.dumps(dict(state)).decode(),
    }
    transaction.connection.execute(insert_or_replace(_WORKERS), row)


def _forget_dead(transaction: Transaction, campaign: str, worker: str) -> None:
    known = known_workers(transaction.connection, campaign)
    if any(each.id == worker and _is_silent(each) for each in known):
        return  # who was suspended with it has had no time yet to say that it lives
    living = {each.id for each in known if each.id == worker or _lives(each)}
    if worker not in living or len(living) < len(known):
        _forget_others(transaction, campaign, living)


def leave(transaction: Transaction, campaign: str, worker: str) -> None:
    """Forget a process: what it has not ended is free again, and the last one leaves nothing."""
    living = {each.id for each in living_workers(transaction.connection, campaign)}
    _forget_others(transaction, campaign, living - {worker})


def _forget_others(transaction: Transaction, campaign: str, living: Collection[str]) -> None:
    """Forget all processes of a campaign but these; without any, also what their run has done."""
    connection = transaction.connection
    gone = (_WORKERS.c.campaign == campaign, _WORKERS.c.id.not_in(living))
    wishes = _WISHES.c.worker.in_(select(_WORKERS.c.id).where(*gone))
    connection.execute(delete(_WISHES).where(wishes))
    connection.execute(delete(_WORKERS).where(*gone))
    free_reserved(transaction, campaign, living)
    if not living:
        connection.execute(delete(_LEASES).where(_LEASES.c.campaign == campaign))
        forget_spending(transaction, campaign)


def living_workers(connection: Connection, campaign: str) -> list[Any]:
    """The rows of `worker` of the processes that run a campaign."""
    return [row for row in known_workers(connection, campaign) if _lives(row)]


def known_workers(connection: Connection, campaign: str) -> list[Any]:
    """The rows of `worker` of all that were not forgotten; some may have ended since."""
    query = select(_WORKERS, Now().label("now")).where(_WORKERS.c.campaign == campaign)
    return list(connection.execute(query.order_by(_WORKERS.c.id)))


def _lives(row: Any) -> bool:
    return not _is_silent(row) and (row.host != _host() or _exists(row.process))


def _is_silent(row: Any) -> bool:
    return bool(row.now - row.seen > SILENT_SECONDS)


def _host() -> str:
    """Where a process's number means the same as here: each container has its own numbers, also if
    they all have their machine's name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:  # not Linux
        return socket.gethostname()


def _exists(process: int) -> bool:
    """Whether it has not ended: one may have that its parent did not ask about yet."""
    import psutil

    if not psutil.pid_exists(process):
        return False
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:  # it belongs to somebody else
        return True


def add_wishes(
    transaction: Transaction, workers: Mapping[str, str], settings: Mapping[str, JSON]
) -> None:
    """Ask processes to change their settings; `workers` are these processes by the wish's id."""
    text = orjson.dumps(dict(settings)).decode()
    rows = [
        {"id": wish, "worker": worker, "settings": text, "taken": 0, "answer": None}
        for wish, worker in workers.items()
    ]
    transaction.connection.execute(_WISHES.insert(), rows)


def find_wish(connection: Connection, wish: str) -> Any:
    """The row of a wish; None if its process has ended."""
    return connection.execute(select(_WISHES).where(_WISHES.c.id == wish)).first()


def wishes_of(connection: Connection, worker: str) -> list[Any]:
    """The rows of what a process is asked for and has not looked at."""
    query = select(_WISHES).where(_WISHES.c.worker == worker, _WISHES.c.taken == 0)
    return list(connection.execute(query))


def take_wish(transaction: Transaction, wish: str) -> bool:
    """Say that the process has looked; False if the wish was withdrawn."""
    here = update(_WISHES).where(_WISHES.c.id == wish)
    return transaction.connection.execute(here.values(taken=1)).rowcount == 1


def answer_wish(transaction: Transaction, wish: str, refused: str | None) -> None:
    """Say that a wish was granted, or why not."""
    said = orjson.dumps(refused).decode()
    transaction.connection.execute(update(_WISHES).where(_WISHES.c.id == wish).values(answer=said))


def withdraw_wish(transaction: Transaction, wish: str) -> bool:
    """Remove a wish; False if its process has looked at it."""
    here = (_WISHES.c.id == wish, _WISHES.c.taken == 0)
    return transaction.connection.execute(delete(_WISHES).where(*here)).rowcount == 1


def remove_wishes(transaction: Transaction, wishes: Iterable[str]) -> None:
    """Remove wishes, looked at or not."""
    transaction.connection.execute(delete(_WISHES).where(_WISHES.c.id.in_(list(wishes))))
