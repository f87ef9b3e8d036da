"""Conversation logs, stored as canonical JSON; a log's id is the digest of its bytes."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Column, Connection, ForeignKey, select

from recjury.records import ConversationLog, Record
from recjury.store.column_types import Hex, PlainText
from recjury.store.sealed import Damaged, SealedTable, refuse
from recjury.store.stages import CONVERSE, check_stages, finish_stage
from recjury.store.summaries import summary_of_log
from recjury.store.texts import chunks
from recjury.store.writer import Transaction


class StoredLog(Record):
    """A conversation's log, and its id.

    `seconds` and `costs` (US dollars) are by system turn, and empty if unknown. For a turn whose
    calls are in the store, the calls are used instead.
    """

    digest: str
    body: ConversationLog
    seconds: tuple[float | None, ...] = ()
    costs: tuple[float | None, ...] = ()


LOGS = SealedTable(
    "log",
    StoredLog,
    Column("conversation", PlainText, ForeignKey("conversation.id"), primary_key=True),
    Column("digest", Hex(), nullable=False, index=True),
    Column("body", PlainText, nullable=False),
    named="the log of conversation {conversation}",
)


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
    stored = StoredLog(digest=log.id, body=log, seconds=tuple(seconds), costs=tuple(costs))
    records = [(stored, {"conversation": conversation})]
    summary = summary_of_log(stored.digest, log)
    finish_stage(transaction, conversation, CONVERSE, [(LOGS, records)], summary)


def read_logs(
    connection: Connection, conversations: Sequence[str], damaged: Damaged = refuse
) -> dict[str, StoredLog]:
    """Logs by conversation; `damaged` is called for each log that was altered or is missing."""
    found = {
        row.conversation: (row.seal, stored)
        for row, stored in LOGS.read(connection, "conversation", conversations, damaged)
    }
    seals = {each: {CONVERSE: [found[each][0]]} if each in found else {} for each in conversations}
    check_stages(connection, seals, damaged)
    return {each: stored for each, (_, stored) in found.items()}


def find_log(connection: Connection, conversation: str) -> ConversationLog | None:
    """A conversation's log, or None. Raises StoreError if it was altered."""
    stored = read_logs(connection, [conversation]).get(conversation)
    return None if stored is None else stored.body


def log_ids_of(connection: Connection, conversations: Iterable[str]) -> dict[str, str]:
    """The id of the log of each of `conversations` that has one."""
    logs = LOGS.table
    query = select(logs.c.conversation, logs.c.digest)
    return {
        row.conversation: row.digest
        for some in chunks(conversations)
        for row in connection.execute(query.where(logs.c.conversation.in_(some)))
    }
