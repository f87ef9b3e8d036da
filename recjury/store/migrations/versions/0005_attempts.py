"""Reasoning and estimated tokens of calls, repaired replies, learned endpoints, attempts."""

from alembic import op

revision = "0005_attempts"
down_revision = "0004_apart"

_NEW = {
    "call": ("reasoning INTEGER REFERENCES text (id)", "estimated INTEGER"),
    "run": ("learned INTEGER REFERENCES text (id)",),
    "rating": ("repaired VARCHAR",),
    "statement": ("repaired VARCHAR",),
    "evaluation": ("attempt INTEGER DEFAULT 0 NOT NULL",),
}


def upgrade() -> None:
    """Add columns; a row that has their defaults keeps its seal."""
    # In SQL: Alembic adds a foreign key in a step of its own, which SQLite does not know.
    for table, columns in _NEW.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
