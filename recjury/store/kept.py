"""Results of stages other than ratings, debates and particles: one JSON object each."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import orjson
from sqlalchemy import Connection

from recjury.records import JSON
from recjury.store.evaluation_tables import KeptRow
from recjury.store.sealed import Damaged, SealedTable, refuse
from recjury.store.texts import text_reader
from recjury.store.writer import Transaction

_KEPT = SealedTable(KeptRow, "what stage {stage} of evaluation {evaluation} left", text="body")


def kept_row(
    transaction: Transaction, evaluation: str, stage: str, body: Mapping[str, JSON]
) -> dict[str, JSON]:
    """A sealed row of `kept`, whose body is stored as a text."""
    text = orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()
    place = transaction.texts.intern(transaction.connection, [text])[text]
    return _KEPT.sealed({"evaluation": evaluation, "stage": stage}, place)


class StoredObject(NamedTuple):
    """A JSON object that a stage left, and its row's seal."""

    body: dict[str, JSON]
    seal: str


def read_kept(
    connection: Connection, evaluations: Iterable[str], damaged: Damaged = refuse
) -> dict[str, dict[str, StoredObject]]:
    """JSON objects by evaluation and stage; `damaged` is called for each altered row."""
    text = text_reader(connection)
    found: dict[str, dict[str, StoredObject]] = {}
    for row, stored in _KEPT.read(
        connection,
        "evaluation",
        evaluations,
        lambda row: StoredObject(orjson.loads(text(row.body)), row.seal),
        damaged,
    ):
        found.setdefault(row.evaluation, {})[row.stage] = stored
    return found
