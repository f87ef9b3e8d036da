"""How long calls waited for limits and between attempts."""

from alembic import op

revision = "0006_waited"
down_revision = "0005_attempts"


def upgrade() -> None:
    """Add a column to `call`; calls whose wait is unknown keep their seals."""
    op.execute("ALTER TABLE call ADD COLUMN waited FLOAT")
