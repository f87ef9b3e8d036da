"""What was said until a conversation failed, kept with the failure."""

from alembic import op

revision = "0003_unfinished"
down_revision = "0002_face"


def upgrade() -> None:
    """Add a column to `failure`."""
    # In SQL: Alembic adds a foreign key in a step of its own, which SQLite does not know.
    op.execute("ALTER TABLE failure ADD COLUMN log INTEGER REFERENCES text (id)")
