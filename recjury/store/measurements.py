"""What was measured of models outside of campaigns, such as how far they repeat themselves."""

from collections.abc import Mapping

from sqlalchemy import Column, Connection

from recjury.records import JSON, Record
from recjury.store.column_types import PlainText
from recjury.store.sealed import SealedTable
from recjury.store.writer import Transaction


class Measurement(Record):
    """What was measured (`kind`), of what (`subject`), when (Unix seconds), and the result."""

    kind: str
    subject: str
    measured_at: float
    body: Mapping[str, JSON]


MEASUREMENTS = SealedTable(
    "measurement",
    Measurement,
    Column("kind", PlainText, nullable=False, index=True),
    named="measurement {id}",
)


def write_measurement(transaction: Transaction, measurement: Measurement) -> None:
    """Add a measurement; earlier ones of the same subject stay."""
    MEASUREMENTS.insert(transaction, [(measurement, {})])


def read_measurements(connection: Connection, kind: str) -> tuple[Measurement, ...]:
    """All measurements of a kind, the oldest first. Raises StoreError for an altered row."""
    found = (record for _, record in MEASUREMENTS.read(connection, "kind", [kind]))
    return tuple(sorted(found, key=lambda each: each.measured_at))
