"""The first schema: texts, calls, campaigns, trials, and what each stage leaves behind."""

import sqlalchemy as sa
from alembic import op

revision = "0001_initial"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "campaign",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "text",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("hash"),
    )
    op.create_table(
        "call",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("identity", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("trial", sa.String(), nullable=True),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("params", sa.Integer(), nullable=False),
        sa.Column("request", sa.String(), nullable=False),
        sa.Column("reply", sa.Integer(), nullable=False),
        sa.Column("reply_model", sa.String(), nullable=False),
        sa.Column("finish_reason", sa.String(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("cached_tokens", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("latency", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("logprobs", sa.Integer(), nullable=True),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["logprobs"],
            ["text.id"],
        ),
        sa.ForeignKeyConstraint(
            ["params"],
            ["text.id"],
        ),
        sa.ForeignKeyConstraint(
            ["reply"],
            ["text.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("identity"),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.String(), nullable=False),
        sa.Column("setup", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign"],
            ["campaign.id"],
        ),
        sa.ForeignKeyConstraint(
            ["setup"],
            ["text.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_run_campaign"), "run", ["campaign"], unique=False)
    op.create_table(
        "trial",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("scenario", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("settings", sa.Integer(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["settings"],
            ["text.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_trial_system"), "trial", ["system"], unique=False)
    op.create_table(
        "campaign_trial",
        sa.Column("campaign", sa.String(), nullable=False),
        sa.Column("trial", sa.String(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign"],
            ["campaign.id"],
        ),
        sa.ForeignKeyConstraint(
            ["trial"],
            ["trial.id"],
        ),
        sa.PrimaryKeyConstraint("campaign", "trial"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "debate",
        sa.Column("trial", sa.String(), nullable=False),
        sa.Column("log", sa.LargeBinary(), nullable=False),
        sa.Column("max_rounds", sa.Integer(), nullable=False),
        sa.Column("protocol", sa.String(), nullable=False),
        sa.Column("judges", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("spoke", sa.Integer(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("agreed", sa.Integer(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trial"],
            ["trial.id"],
        ),
        sa.PrimaryKeyConstraint("trial"),
    )
    op.create_table(
        "failure",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("failed_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trial"],
            ["trial.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_failure_trial"), "failure", ["trial"], unique=False)
    op.create_table(
        "log",
        sa.Column("trial", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trial"],
            ["trial.id"],
        ),
        sa.PrimaryKeyConstraint("trial"),
    )
    op.create_table(
        "rating",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("evaluator", sa.String(), nullable=False),
        sa.Column("factor", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("rationale", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("low", sa.Float(), nullable=False),
        sa.Column("high", sa.Float(), nullable=False),
        sa.Column("rubric", sa.String(), nullable=False),
        sa.Column("calls", sa.String(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trial"],
            ["trial.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_rating_place", "rating", ["trial", "stage", "position"], unique=True)
    op.create_table(
        "stage",
        sa.Column("trial", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("finished_at", sa.Float(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trial"],
            ["trial.id"],
        ),
        sa.PrimaryKeyConstraint("trial", "stage"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "statement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("speaker", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("calls", sa.String(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trial"],
            ["debate.trial"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_statement_place", "statement", ["trial", "position"], unique=True)
