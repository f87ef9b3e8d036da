"""Calls with several replies, and what FACE keeps: particles of turns, samples of particles."""

import sqlalchemy as sa
from alembic import op

revision = "0002_face"
down_revision = "0001_initial"


def upgrade() -> None:
    """Add a column to `call`, and two tables."""
    op.add_column("call", sa.Column("further", sa.String(), nullable=True))
    op.create_table(
        "face_turn",
        sa.Column("trial", sa.String(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("decomposer", sa.String(), nullable=False),
        sa.Column("particles", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("calls", sa.String(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["trial"], ["trial.id"]),
        sa.PrimaryKeyConstraint("trial", "turn"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "face_score",
        sa.Column("trial", sa.String(), nullable=False),
        sa.Column("aspect", sa.String(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("particle", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("instructions", sa.Integer(), nullable=False),
        sa.Column("samples", sa.String(), nullable=False),
        sa.Column("calls", sa.LargeBinary(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["trial"], ["trial.id"]),
        sa.ForeignKeyConstraint(["instructions"], ["text.id"]),
        sa.PrimaryKeyConstraint("trial", "aspect", "turn", "particle"),
        sqlite_with_rowid=False,
    )
