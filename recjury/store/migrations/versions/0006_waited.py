"""How long calls waited for limits and between attempts, and repaired replies of decomposers."""

from alembic import op

revision = "0006_waited"
down_revision = "0005_attempts"


def upgrade() -> None:
    """Add columns; rows without a value in them keep their seals."""
    op.execute("ALTER TABLE call ADD COLUMN waited FLOAT")
    op.execute("ALTER TABLE face_turn ADD COLUMN repaired VARCHAR")
