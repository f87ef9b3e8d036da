"""What was measured of models outside of campaigns, such as how far they repeat themselves."""

from collections.abc import Mapping

import orjson
from sqlalchemy import Connection

from recjury.records import JSON, Record
from recjury.store.engine import insert_new
from recjury.store.sealed import AnyRow, SealedTable
from recjury.store.tables import MeasurementRow
from recjury.store.texts import text_reader
from recjury.store.writer import Transaction

_MEASUREMENTS = SealedTable(
    MeasurementRow, "measurement {id}", order=("id",), text="body", unsealed={"id"}
)


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
    row = _MEASUREMENTS.sealed(measurement.model_dump(exclude={"body"}), place)
    transaction.connection.execute(insert_new(MeasurementRow), [row])


def read_measurements(connection: Connection, kind: str) -> tuple[Measurement, ...]:
    """All measurements of a kind, the oldest first. Raises StoreError for an altered row."""
    text = text_reader(connection)

    def build(row: AnyRow) -> Measurement:
        body = orjson.loads(text(row.body))
        return Measurement(
            kind=row.kind, subject=row.subject, measured_at=row.measured_at, body=body
        )

    return tuple(found for _, found in _MEASUREMENTS.read(connection, "kind", [kind], build))
