"""What was measured of models outside of campaigns, such as how far they repeat themselves."""

from collections.abc import Mapping

import orjson
from sqlalchemy import Connection, Row, select

from recjury.errors import StoreError
from recjury.records import JSON, Record
from recjury.store.engine import insert_new
from recjury.store.tables import MeasurementRow, table_of
from recjury.store.texts import hashes_of_ids, seal, texts_of_ids
from recjury.store.writer import Transaction


class Measurement(Record):
    """What was measured (`kind`), of what (`subject`), when (Unix seconds), and the result."""

    kind: str
    subject: str
    measured_at: float
    body: Mapping[str, JSON]


def write_measurement(transaction: Transaction, measurement: Measurement) -> None:
    """Add a measurement; earlier ones of the same subject stay."""
    text = orjson.dumps(dict(measurement.body), option=orjson.OPT_SORT_KEYS).decode()
    place = transaction.texts.intern(transaction.connection, [text])[text]
    about: list[JSON] = [measurement.kind, measurement.subject, measurement.measured_at]
    row = dict(zip(("kind", "subject", "measured_at"), about, strict=True))
    row |= {"body": place.id, "seal": seal(about, [place.hash])}
    transaction.connection.execute(insert_new(MeasurementRow), [row])


def read_measurements(connection: Connection, kind: str) -> tuple[Measurement, ...]:
    """All measurements of a kind, the oldest first. Raises StoreError for an altered row."""
    table = table_of(MeasurementRow)
    rows = connection.execute(select(table).where(table.c.kind == kind).order_by(table.c.id)).all()
    hashes = hashes_of_ids(connection, (row.body for row in rows))
    return tuple(_read(connection, row, hashes.get(row.body, b"")) for row in rows)


def _read(connection: Connection, row: Row[tuple[object, ...]], body: bytes) -> Measurement:
    try:
        if seal([row.kind, row.subject, row.measured_at], [body]) == row.seal:
            found = orjson.loads(texts_of_ids(connection, [row.body])[row.body])
            about = {name: getattr(row, name) for name in ("kind", "subject", "measured_at")}
            return Measurement(**about, body=found)
    except (TypeError, KeyError):  # a damaged row may hold any value
        pass
    raise StoreError(f"measurement {row.id} was changed after it was written")
