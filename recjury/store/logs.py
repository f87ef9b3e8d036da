"""Conversation logs: canonical JSON, so that a log's id is the digest of its stored bytes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson
from pydantic import ValidationError
from sqlalchemy import Connection, Row, select

from recjury.errors import StoreError
from recjury.records import ConversationLog, Rating
from recjury.store.engine import insert_new
from recjury.store.ratings import rating_rows, write_rows
from recjury.store.tables import LogRow, table_of
from recjury.store.texts import Damaged, plain_digest, refuse
from recjury.store.trials import finish_stage
from recjury.store.writer import Transaction


class FinishedLog(NamedTuple):
    """A trial's log, with what the simulated user said of it afterwards."""

    trial: str
    log: ConversationLog
    ratings: tuple[Rating, ...] = ()


class StoredLog(NamedTuple):
    """A log and its digest, which is also its id."""

    log: ConversationLog
    digest: str


def write_logs(transaction: Transaction, finished: Sequence[FinishedLog]) -> None:
    """Keep logs and finish the stage "converse"; a trial that has a log keeps it."""
    for trial, log, ratings in finished:
        body = canonical(log)
        rows = rating_rows(trial, "converse", ratings)
        seals = [plain_digest(body), *(str(row["seal"]) for row in rows)]
        if finish_stage(transaction, trial, "converse", seals):
            row = {"trial": trial, "digest": plain_digest(body), "body": body}
            transaction.connection.execute(insert_new(LogRow), [row])
            write_rows(transaction, rows)


def canonical(log: ConversationLog) -> str:
    """The JSON whose SHA-256 begins with `log.id`."""
    return orjson.dumps(log.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS).decode()


def read_logs(
    connection: Connection, trials: Iterable[str], damaged: Damaged = refuse
) -> dict[str, StoredLog]:
    """Logs by trial, of those that have one; `damaged` hears of altered ones."""
    logs = table_of(LogRow)
    found: dict[str, StoredLog] = {}
    for row in connection.execute(select(logs).where(logs.c.trial.in_(tuple(trials)))):
        try:
            found[row.trial] = StoredLog(_log(row), row.digest)
        except StoreError as error:
            damaged(error)
    return found


def _log(row: Row[tuple[object, ...]]) -> ConversationLog:
    try:
        if plain_digest(row.body) == row.digest:
            return ConversationLog.model_validate_json(row.body)
    except (ValidationError, TypeError, AttributeError):  # what a damaged row can be read as
        pass
    raise StoreError(f"the log of trial {row.trial} in the store is not as it was written")
