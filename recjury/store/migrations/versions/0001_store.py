"""The schema of version 0.2: texts, calls, campaigns, conversations, evaluations."""

import sqlalchemy as sa
from alembic import op

revision = "0001_store"
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
        "stage",
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("finished_at", sa.Float(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("unit", "stage"),
        sqlite_with_rowid=False,
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
        sa.Column("unit", sa.String(), nullable=True),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("params", sa.Integer(), nullable=False),
        sa.Column("request", sa.String(), nullable=False),
        sa.Column("reply", sa.Integer(), nullable=False),
        sa.Column("reply_model", sa.String(), nullable=False),
        sa.Column("finish_reason", sa.String(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("cached_tokens", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("latency", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("logprobs", sa.Integer(), nullable=True),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("further", sa.String(), nullable=False),
        sa.Column("reasoning", sa.Integer(), nullable=True),
        sa.Column("estimated", sa.Integer(), nullable=False),
        sa.Column("waited", sa.Float(), nullable=True),
        sa.Column("fingerprint", sa.String(), nullable=False),
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
            ["reasoning"],
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
        "conversation",
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
    op.create_index(op.f("ix_conversation_system"), "conversation", ["system"], unique=False)
    op.create_table(
        "evaluator",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("settings", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["settings"],
            ["text.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "failure",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("failed_at", sa.Float(), nullable=False),
        sa.Column("log", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["log"],
            ["text.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_failure_unit"), "failure", ["unit"], unique=False)
    op.create_table(
        "measurement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("measured_at", sa.Float(), nullable=False),
        sa.Column("body", sa.Integer(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["body"],
            ["text.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_measurement_kind"), "measurement", ["kind"], unique=False)
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.String(), nullable=False),
        sa.Column("setup", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("learned", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign"],
            ["campaign.id"],
        ),
        sa.ForeignKeyConstraint(
            ["learned"],
            ["text.id"],
        ),
        sa.ForeignKeyConstraint(
            ["setup"],
            ["text.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_run_campaign"), "run", ["campaign"], unique=False)
    op.create_table(
        "campaign_conversation",
        sa.Column("campaign", sa.String(), nullable=False),
        sa.Column("conversation", sa.String(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("set_aside", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign"],
            ["campaign.id"],
        ),
        sa.ForeignKeyConstraint(
            ["conversation"],
            ["conversation.id"],
        ),
        sa.PrimaryKeyConstraint("campaign", "conversation"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "campaign_evaluator",
        sa.Column("campaign", sa.String(), nullable=False),
        sa.Column("evaluator", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("judgings", sa.Integer(), nullable=False),
        sa.Column("metrics", sa.Integer(), nullable=False),
        sa.Column("stages", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign"],
            ["campaign.id"],
        ),
        sa.ForeignKeyConstraint(
            ["evaluator"],
            ["evaluator.id"],
        ),
        sa.ForeignKeyConstraint(
            ["metrics"],
            ["text.id"],
        ),
        sa.ForeignKeyConstraint(
            ["stages"],
            ["text.id"],
        ),
        sa.PrimaryKeyConstraint("campaign", "evaluator"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "evaluation",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("identity", sa.String(), nullable=False),
        sa.Column("log", sa.LargeBinary(), nullable=False),
        sa.Column("evaluator", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("fork_of", sa.String(), nullable=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("judging", sa.Integer(), nullable=False),
        sa.Column("data", sa.Integer(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["data"],
            ["text.id"],
        ),
        sa.ForeignKeyConstraint(
            ["evaluator"],
            ["evaluator.id"],
        ),
        sa.ForeignKeyConstraint(
            ["fork_of"],
            ["evaluation.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_evaluation_identity"), "evaluation", ["identity"], unique=False)
    op.create_index(op.f("ix_evaluation_log"), "evaluation", ["log"], unique=False)
    op.create_table(
        "log",
        sa.Column("conversation", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("seconds", sa.String(), nullable=True),
        sa.Column("costs", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["conversation"],
            ["conversation.id"],
        ),
        sa.PrimaryKeyConstraint("conversation"),
    )
    op.create_index(op.f("ix_log_digest"), "log", ["digest"], unique=False)
    op.create_table(
        "debate",
        sa.Column("evaluation", sa.String(), nullable=False),
        sa.Column("log", sa.LargeBinary(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("spoke", sa.Integer(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("agreed", sa.Integer(), nullable=False),
        sa.Column("max_rounds", sa.Integer(), nullable=False),
        sa.Column("protocol", sa.String(), nullable=False),
        sa.Column("judges", sa.String(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation"],
            ["evaluation.id"],
        ),
        sa.PrimaryKeyConstraint("evaluation"),
    )
    op.create_table(
        "evidence",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("factor", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("span_start", sa.Integer(), nullable=True),
        sa.Column("span_end", sa.Integer(), nullable=True),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation"],
            ["evaluation.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_evidence_place", "evidence", ["evaluation", "stage", "position"], unique=True
    )
    op.create_table(
        "rating",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation", sa.String(), nullable=False),
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
        sa.Column("high", sa.Float(), nullable=True),
        sa.Column("rubric", sa.String(), nullable=False),
        sa.Column("calls", sa.String(), nullable=False),
        sa.Column("repaired", sa.String(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation"],
            ["evaluation.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_rating_place", "rating", ["evaluation", "stage", "position"], unique=True)
    op.create_table(
        "stage_output",
        sa.Column("evaluation", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("body", sa.Integer(), nullable=False),
        sa.Column("lost", sa.String(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["body"],
            ["text.id"],
        ),
        sa.ForeignKeyConstraint(
            ["evaluation"],
            ["evaluation.id"],
        ),
        sa.PrimaryKeyConstraint("evaluation", "stage"),
    )
    op.create_table(
        "statement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("speaker", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("calls", sa.String(), nullable=False),
        sa.Column("repaired", sa.String(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation"],
            ["debate.evaluation"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_statement_place", "statement", ["evaluation", "position"], unique=True)
