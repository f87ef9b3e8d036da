"""Results of stages other than ratings, debates and particles: one JSON object each."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import orjson
from sqlalchemy import Connection, Row, select

from recjury.errors import StoreError
from recjury.records import JSON
from recjury.store.evaluation_tables import KeptRow
from recjury.store.tables import table_of
from recjury.store.texts import Damaged, chunks, hashes_of_ids, refuse, seal, texts_of_ids
from recjury.store.writer import Transaction


def kept_row(
    transaction: Transaction, evaluation: str, stage: str, body: Mapping[str, JSON]
) -> dict[str, JSON]:
    """A sealed row of `kept`, whose body is stored as a text."""
    text = orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()
    place = transaction.texts.intern(transaction.connection, [text])[text]
    sealed = seal([evaluation, stage], [place.hash])
    return {"evaluation": evaluation, "stage": stage, "body": place.id, "seal": sealed}


class StoredObject(NamedTuple):
    """A JSON object that a stage left, and its row's seal."""

    body: dict[str, JSON]
    seal: str


def read_kept(
    connection: Connection, evaluations: Iterable[str], damaged: Damaged = refuse
) -> dict[str, dict[str, StoredObject]]:
    """JSON objects by evaluation and stage; `damaged` is called for each altered row."""
    table = table_of(KeptRow)
    found: dict[str, dict[str, StoredObject]] = {}
    for some in chunks(evaluations):
        rows = connection.execute(select(table).where(table.c.evaluation.in_(some))).all()
        hashes = hashes_of_ids(connection, (row.body for row in rows))
        for row in rows:
            try:
                stored = _stored(connection, row, hashes.get(row.body, b""))
            except StoreError as error:
                damaged(error)
                continue
            found.setdefault(row.evaluation, {})[row.stage] = stored
    return found


def _stored(connection: Connection, row: Row[tuple[object, ...]], body_hash: bytes) -> StoredObject:
    try:
        if seal([row.evaluation, row.stage], [body_hash]) == row.seal:
            body = orjson.loads(texts_of_ids(connection, [row.body])[row.body])
            return StoredObject(body, row.seal)
    except TypeError:  # a damaged row may hold any value
        pass
    raise StoreError(
        f"what stage {row.stage} of evaluation {row.evaluation} stored was changed after it "
        f"was written"
    )
