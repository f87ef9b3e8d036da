"""Conversation logs, stored as canonical JSON; a log's id is the digest of its bytes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson
from pydantic import TypeAdapter
from sqlalchemy import Connection, select

from recjury.errors import StoreError
from recjury.records import ConversationLog, ConversationRecord, Ending
from recjury.store.engine import insert_new
from recjury.store.sealed import AnyRow, Damaged, as_written, check, refuse
from recjury.store.stages import CONVERSE, check_stages, finish_stage, is_conversation
from recjury.store.tables import (
    CallRow,
    CampaignConversationRow,
    LogRow,
    table_of,
)
from recjury.store.texts import chunks, plain_digest
from recjury.store.writer import Transaction

_NUMBERS = TypeAdapter(tuple[float | None, ...])


class StoredLog(NamedTuple):
    """A log, its digest (which is also its id), and the stored seconds and costs of its system
    turns."""

    log: ConversationLog
    digest: str
    seconds: tuple[float | None, ...]
    costs: tuple[float | None, ...]
    seals: tuple[str, ...]


def write_log(
    transaction: Transaction,
    conversation: str,
    log: ConversationLog,
    seconds: Sequence[float | None] = (),
    costs: Sequence[float | None] = (),
) -> None:
    """Finish a conversation; `seconds` and `costs` (US dollars) are by system turn.

    They are used for turns without calls, and for turns whose calls the store does not have. A
    finished conversation is not replaced.
    """
    body = canonical(log)
    digest, taken, paid = plain_digest(body), _json(seconds), _json(costs)
    if finish_stage(transaction, conversation, CONVERSE, _seals(digest, taken, paid)):
        row = {"conversation": conversation, "digest": digest, "body": body, "seconds": taken}
        transaction.connection.execute(insert_new(table_of(LogRow)), [{**row, "costs": paid}])


def _json(numbers: Sequence[float | None]) -> str | None:
    return orjson.dumps(numbers).decode() if numbers else None


def _numbers(text: str | None) -> tuple[float | None, ...]:
    return () if text is None else _NUMBERS.validate_json(text)


def _seals(digest: str, seconds: str | None, costs: str | None) -> tuple[str, ...]:
    if costs is not None:
        return (digest, seconds or "", costs)
    return (digest,) if seconds is None else (digest, seconds)


def canonical(log: ConversationLog) -> str:
    """The JSON whose SHA-256 begins with `log.id`."""
    return orjson.dumps(log.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS).decode()


def read_logs(
    connection: Connection, conversations: Iterable[str], damaged: Damaged = refuse
) -> dict[str, StoredLog]:
    """Logs by conversation; `damaged` is called for each altered log."""
    logs = table_of(LogRow)
    found: dict[str, StoredLog] = {}
    for some in chunks(conversations):
        for row in connection.execute(select(logs).where(logs.c.conversation.in_(some))):
            try:
                found[row.conversation] = _stored(row)
            except StoreError as error:
                damaged(error)
    return found


def _stored(row: AnyRow) -> StoredLog:
    with as_written(f"the log of conversation {row.conversation} in the store"):
        check(plain_digest(row.body), row.digest)
        log = ConversationLog.model_validate_json(row.body)
        seals = _seals(row.digest, row.seconds, row.costs)
        return StoredLog(log, row.digest, _numbers(row.seconds), _numbers(row.costs), seals)


def find_log(connection: Connection, conversation: str) -> ConversationLog | None:
    """A conversation's log, or None. Raises StoreError if it was altered."""
    stored = _checked(connection, conversation)
    return None if stored is None else stored.log


def _checked(connection: Connection, conversation: str) -> StoredLog | None:
    stored = read_logs(connection, [conversation]).get(conversation)
    seals = {} if stored is None else {CONVERSE: stored.seals}
    check_stages(connection, {conversation: seals}, concerned=is_conversation)
    return stored


def find_record(connection: Connection, conversation: str) -> ConversationRecord | None:
    """A conversation's log with the known seconds and US dollars of its system turns, or None.

    A turn with model calls took as long as its calls: measured by a clock, a turn with reused calls
    would take no time, and a turn that waited for a free slot would take too long. If the store
    does not have all calls, because the conversation was held elsewhere, the values stored with the
    log are used. Raises StoreError if the log was altered.
    """
    stored = _checked(connection, conversation)
    if stored is None:
        return None
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
    seconds = _by_turn(log, took, stored.seconds)
    return ConversationRecord(log, seconds, _by_turn(log, costs, stored.costs))


def _by_turn(
    log: ConversationLog, by_call: Mapping[str, float | None], kept: Sequence[float | None]
) -> tuple[float | None, ...]:
    turns = log.system_turns
    return tuple(
        _sum([by_call[call] for call in turn.calls])
        if turn.calls and all(call in by_call for call in turn.calls)
        else otherwise
        for turn, otherwise in zip(turns, kept or (None,) * len(turns), strict=False)
    )


def _sum(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def log_ids(connection: Connection, campaign: str) -> dict[str, str]:
    """The id of the log of each of a campaign's conversations that has one."""
    logs, links = table_of(LogRow), table_of(CampaignConversationRow)
    query = select(logs.c.conversation, logs.c.digest)
    query = query.join(links, links.c.conversation == logs.c.conversation)
    query = query.where(links.c.campaign == campaign, links.c.set_aside == 0)
    return {row[0]: row[1] for row in connection.execute(query.order_by(links.c.ordinal))}


def log_ids_of(connection: Connection, conversations: Iterable[str]) -> dict[str, str]:
    """The id of the log of each of `conversations` that has one."""
    logs = table_of(LogRow)
    query = select(logs.c.conversation, logs.c.digest)
    return {
        row.conversation: row.digest
        for some in chunks(conversations)
        for row in connection.execute(query.where(logs.c.conversation.in_(some)))
    }
