"""Conversation logs: canonical JSON, so that a log's id is the digest of its stored bytes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Row, literal_column, select

from recjury.errors import StoreError
from recjury.records import ConversationLog, ConversationRecord, Ending
from recjury.store.engine import insert_new
from recjury.store.stages import CONVERSE, finish_stage
from recjury.store.tables import (
    CallRow,
    CampaignConversationRow,
    ConversationRow,
    LogRow,
    table_of,
)
from recjury.store.texts import Damaged, chunks, plain_digest, refuse
from recjury.store.writer import Transaction

_SECONDS = TypeAdapter(tuple[float | None, ...])


class FinishedLog(NamedTuple):
    """A conversation's log, and how many seconds each of the system's turns took."""

    conversation: str
    log: ConversationLog
    seconds: tuple[float | None, ...] = ()


class StoredLog(NamedTuple):
    """A log, its digest, which is also its id, and the seconds of its system turns."""

    log: ConversationLog
    digest: str
    seconds: tuple[float | None, ...]
    seals: tuple[str, ...]


def write_logs(transaction: Transaction, finished: Sequence[FinishedLog]) -> None:
    """Keep logs and finish the stage "converse"; a conversation that has a log keeps it."""
    for conversation, log, taken in finished:
        body = canonical(log)
        seconds = orjson.dumps(taken).decode() if taken else None
        row = {
            "conversation": conversation,
            "digest": plain_digest(body),
            "body": body,
            "seconds": seconds,
        }
        if finish_stage(transaction, conversation, CONVERSE, _seals(row["digest"], seconds)):
            transaction.connection.execute(insert_new(LogRow), [row])


def _seals(digest: str | None, seconds: str | None) -> tuple[str, ...]:
    return (str(digest),) if seconds is None else (str(digest), seconds)


def canonical(log: ConversationLog) -> str:
    """The JSON whose SHA-256 begins with `log.id`."""
    return orjson.dumps(log.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS).decode()


def read_logs(
    connection: Connection, conversations: Iterable[str], damaged: Damaged = refuse
) -> dict[str, StoredLog]:
    """Logs by conversation, of those that have one; `damaged` hears of altered ones."""
    logs = table_of(LogRow)
    found: dict[str, StoredLog] = {}
    for some in chunks(conversations):
        for row in connection.execute(select(logs).where(logs.c.conversation.in_(some))):
            try:
                found[row.conversation] = _stored(row)
            except StoreError as error:
                damaged(error)
    return found


def _stored(row: Row[tuple[object, ...]]) -> StoredLog:
    try:
        if plain_digest(row.body) == row.digest:
            log = ConversationLog.model_validate_json(row.body)
            seconds = () if row.seconds is None else _SECONDS.validate_json(row.seconds)
            return StoredLog(log, row.digest, seconds, _seals(row.digest, row.seconds))
    except (ValidationError, TypeError, AttributeError):  # what a damaged row can be read as
        pass
    raise StoreError(
        f"the log of conversation {row.conversation} in the store is not as it was written"
    )


def read_record(connection: Connection, stored: StoredLog) -> ConversationRecord:
    """A log, with what is known of the seconds and US dollars that its system turns took.

    A turn with model calls took as long as they did: by a clock, one whose calls were reused
    would have taken no time, and one that queued for a place too long.
    """
    log = stored.log
    if log.ending is Ending.RECORDED:
        return ConversationRecord(log)
    calls = table_of(CallRow)
    costs: dict[str, float | None] = {}
    took: dict[str, float | None] = {}
    for some in chunks(call for turn in log.system_turns for call in turn.calls):
        query = select(calls.c.identity, calls.c.cost, calls.c.latency)
        for row in connection.execute(query.where(calls.c.identity.in_(some))):
            costs[row.identity], took[row.identity] = row.cost, row.latency
    clock = stored.seconds or (None,) * len(log.system_turns)
    seconds = (
        _sum([took.get(call) for call in turn.calls]) if turn.calls else measured
        for turn, measured in zip(log.system_turns, clock, strict=False)
    )
    by_turn = (_sum([costs.get(call) for call in turn.calls]) for turn in log.system_turns)
    return ConversationRecord(log, tuple(seconds), tuple(by_turn))


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def held(connection: Connection, campaign: str) -> dict[str, str]:
    """The log's id of each of a campaign's conversations that has a log."""
    logs, links = table_of(LogRow), table_of(CampaignConversationRow)
    query = select(logs.c.conversation, logs.c.digest)
    query = query.join(links, links.c.conversation == logs.c.conversation)
    query = query.where(links.c.campaign == campaign, links.c.set_aside == 0)
    return {row[0]: row[1] for row in connection.execute(query.order_by(links.c.ordinal))}


def logs_of_identities(connection: Connection, identities: Iterable[str]) -> dict[str, str]:
    """The log's id of each identity of which a conversation was held; of several, the newest."""
    logs, conversations = table_of(LogRow), table_of(ConversationRow)
    query = select(conversations.c.identity, logs.c.digest)
    query = query.join(logs, logs.c.conversation == conversations.c.id)
    query = query.order_by(literal_column("log.rowid"))
    return {
        row.identity: row.digest
        for some in chunks(identities)
        for row in connection.execute(query.where(conversations.c.identity.in_(some)))
    }
