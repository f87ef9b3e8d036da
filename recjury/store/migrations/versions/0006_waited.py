"""Waits of calls, repaired replies of decomposers, and measurements of endpoints."""

from alembic import op

revision = "0006_waited"
down_revision = "0005_attempts"


def upgrade() -> None:
    """Add columns and a table; rows without a value in the columns keep their seals."""
    op.execute("ALTER TABLE call ADD COLUMN waited FLOAT")
    op.execute("ALTER TABLE face_turn ADD COLUMN repaired VARCHAR")
    op.execute(
        "CREATE TABLE measurement ("
        "id INTEGER NOT NULL PRIMARY KEY, "
        "kind VARCHAR NOT NULL, "
        "subject VARCHAR NOT NULL, "
        "measured_at FLOAT NOT NULL, "
        "body INTEGER NOT NULL REFERENCES text (id), "
        "seal BLOB NOT NULL)"
    )
    op.execute("CREATE INDEX ix_measurement_kind ON measurement (kind)")
