"""Failed stages with their reasons, and the turns of conversations that failed."""

import time
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from recjury.errors import StoreError
from recjury.records import JSON, ConversationLog, Ending, Speaker
from recjury.store.engine import insert_new
from recjury.store.logs import canonical
from recjury.store.sealed import AnyRow, Damaged, as_written, refuse
from recjury.store.stages import CONVERSE
from recjury.store.tables import CampaignConversationRow, FailureRow, StageRow, table_of
from recjury.store.texts import chunks, texts_of_ids
from recjury.store.writer import Transaction


class Failure(NamedTuple):
    """A failed stage of an evaluation, or "converse" of a conversation (`unit`), with its reason.

    `failed_at` is in Unix seconds.
    """

    unit: str
    stage: str
    reason: str
    failed_at: float


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
    row: dict[str, JSON] = Failure(unit, stage, reason, time.time())._asdict()
    if said is not None:
        log = canonical(said)
        row["log"] = transaction.texts.intern(transaction.connection, [log])[log].id
    transaction.connection.execute(insert_new(table_of(FailureRow)), [row])


def read_failures(connection: Connection, units: Iterable[str]) -> dict[str, list[Failure]]:
    """The failures of each unit, oldest first, including those of stages finished later."""
    failures = table_of(FailureRow)
    found: dict[str, list[Failure]] = {}
    for some in chunks(units):
        query = select(failures).where(failures.c.unit.in_(some)).order_by(failures.c.id)
        for row in connection.execute(query):
            failure = Failure(row.unit, row.stage, row.reason, row.failed_at)
            found.setdefault(row.unit, []).append(failure)
    return found


def unit_failures(connection: Connection, unit: str) -> tuple[Failure, ...]:
    """Everything that failed in a conversation or an evaluation, the oldest first."""
    return tuple(read_failures(connection, [unit]).get(unit, ()))


def unfinished_conversations(
    connection: Connection, campaign: str | None = None
) -> tuple[str, ...]:
    """The conversations that failed and have stored turns, in the plan's order."""
    failures, links = table_of(FailureRow), table_of(CampaignConversationRow)
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
    failures = table_of(FailureRow)
    found: dict[str, Unfinished] = {}
    for some in chunks(conversations):
        query = select(failures).where(failures.c.unit.in_(some), _is_unfinished())
        rows = {row.unit: row for row in connection.execute(query.order_by(failures.c.id))}
        for row in rows.values():
            try:
                found[row.unit] = _unfinished(connection, row)
            except StoreError as error:
                damaged(error)
    return found


def find_unfinished(connection: Connection, conversation: str) -> Unfinished | None:
    """What was said until a conversation failed; None if it did not fail, or was held later.

    Raises StoreError if it was altered.
    """
    return read_unfinished(connection, [conversation]).get(conversation)


def _is_unfinished() -> ColumnElement[bool]:
    """Whether a row of `failure` has turns and its conversation was never completed."""
    failures, stages = table_of(FailureRow), table_of(StageRow)
    held = exists().where(stages.c.unit == failures.c.unit, stages.c.stage == CONVERSE)
    return and_(failures.c.log.is_not(None), ~held)


def _unfinished(connection: Connection, row: AnyRow) -> Unfinished:
    body = texts_of_ids(connection, [row.log])[row.log]
    with as_written(f"what was said until conversation {row.unit} failed"):
        log = ConversationLog.model_validate_json(body)
        return Unfinished(row.unit, row.reason, row.failed_at, log)
