"""Failed stages with their reasons, and the turns of conversations that failed."""

import time
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, and_, exists, select

from recjury.records import ConversationLog, Ending, Record, Speaker
from recjury.store.column_types import PlainText
from recjury.store.places import PLACES
from recjury.store.sealed import Damaged, SealedTable, refuse
from recjury.store.stages import CONVERSE
from recjury.store.tables import StageRow, table_of
from recjury.store.texts import chunks
from recjury.store.writer import Transaction


class Failure(Record):
    """A failed stage of an evaluation, or "converse" of a conversation (`unit`), with its reason.

    A later attempt may have finished it. `failed_at` is in Unix seconds; `log` has the turns of a
    conversation up to the failure.
    """

    unit: str
    stage: str
    reason: str
    failed_at: float
    log: ConversationLog | None = None


FAILURES = SealedTable(
    "failure",
    Failure,
    Column("unit", PlainText, nullable=False, index=True),
    named="the failure of {unit} in stage {stage}",
)


class Unfinished(NamedTuple):
    """The turns of a conversation that failed; they are never scored.

    `reason` says what went wrong; `failed_at` is in Unix seconds.
    """

    conversation: str
    reason: str
    failed_at: float
    log: ConversationLog

    @property
    def round(self) -> int:
        """The round (from 1) in which it failed, or after which it failed if its last turn was
        complete."""
        broken = self.log.ending is Ending.BROKEN_OFF
        answered = self.log.interaction[-1].speaker is Speaker.USER
        return len(self.log.system_turns) + (broken and answered)

    @property
    def place(self) -> str:
        """ "in round 2"; or "after round 5" if the whole conversation was held."""
        cut_short = self.log.ending in {Ending.SYSTEM_FAILED, Ending.BROKEN_OFF}
        return f"{'in' if cut_short else 'after'} round {self.round}"


def write_failure(
    transaction: Transaction,
    unit: str,
    stage: str,
    reason: str,
    said: ConversationLog | None = None,
) -> None:
    """Store why a stage of a conversation or an evaluation failed, and what was `said` until then.

    The stage can still be run again.
    """
    failure = Failure(unit=unit, stage=stage, reason=reason, failed_at=time.time(), log=said)
    FAILURES.insert(transaction, [(failure, {})])


def read_failures(connection: Connection, units: Iterable[str]) -> dict[str, list[Failure]]:
    """The failures of each unit, oldest first, including those of stages finished later."""
    found: dict[str, list[Failure]] = {}
    for row, failure in FAILURES.read(connection, "unit", units):
        found.setdefault(row.unit, []).append(failure)
    return {unit: sorted(own, key=lambda each: each.failed_at) for unit, own in found.items()}


def unit_failures(connection: Connection, unit: str) -> tuple[Failure, ...]:
    """Everything that failed in a conversation or an evaluation, the oldest first."""
    return tuple(read_failures(connection, [unit]).get(unit, ()))


def unfinished_conversations(
    connection: Connection, campaign: str | None = None
) -> tuple[str, ...]:
    """The conversations that failed and have stored turns, in the plan's order."""
    failures, links = FAILURES, PLACES.table
    query = select(failures.c.unit).where(_is_unfinished()).distinct()
    if campaign is None:
        query = query.order_by(failures.c.unit)
    else:
        query = query.join(links, links.c.conversation == failures.c.unit)
        query = query.where(links.c.campaign == campaign, links.c.set_aside == 0)
        query = query.order_by(links.c.ordinal)
    return tuple(connection.execute(query).scalars())


def read_unfinished(
    connection: Connection, conversations: Iterable[str], damaged: Damaged = refuse
) -> dict[str, Unfinished]:
    """The turns stored with the latest failure of each conversation.

    Conversations without any, and those that were held later, are left out. `damaged` is called for
    each altered row.
    """
    query = FAILURES.select().where(_is_unfinished()).order_by(FAILURES.c.failed_at)
    found: dict[str, Unfinished] = {}
    for some in chunks(conversations):
        rows = connection.execute(query.where(FAILURES.c.unit.in_(some)))
        latest = {row.unit: row for row in rows}
        for row, failure in FAILURES.intact(connection, tuple(latest.values()), damaged):
            assert failure.log is not None
            found[row.unit] = Unfinished(row.unit, failure.reason, failure.failed_at, failure.log)
    return found


def find_unfinished(connection: Connection, conversation: str) -> Unfinished | None:
    """What was said until a conversation failed; None if it did not fail, or was held later.

    Raises StoreError if it was altered.
    """
    return read_unfinished(connection, [conversation]).get(conversation)


def _is_unfinished() -> ColumnElement[bool]:
    """Whether a row of `failure` has turns and its conversation was never completed."""
    failures, stages = FAILURES.c, table_of(StageRow).c
    held = exists().where(stages.unit == failures.unit, stages.stage == CONVERSE)
    return and_(failures.log.is_not(None), ~held)
