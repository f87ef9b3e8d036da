"""The tables of conversations and evaluations."""

import sqlalchemy as sa
from alembic import op


def create_tables() -> None:
    """Create all tables that are new or have a changed column, without their indexes."""
    _create_calls()
    _create_evaluators()
    _create_stages()
    _create_debates()
    _create_face()


def _key(*names: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*names)


def _to(column: str, place: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [place])


def _text(name: str, *, optional: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=optional)


def _integer(name: str, *, optional: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=optional)


def _number(name: str, *, optional: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), nullable=optional)


def _bytes(name: str) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=False)


def _create_calls() -> None:
    op.create_table(
        "call",
        _integer("id"),
        _bytes("identity"),
        _text("model"),
        _text("purpose"),
        _text("unit", optional=True),
        _integer("sample"),
        _integer("params"),
        _text("request"),
        _integer("reply"),
        _text("reply_model"),
        _text("finish_reason"),
        _integer("prompt_tokens"),
        _integer("completion_tokens"),
        _integer("cached_tokens"),
        _number("cost", optional=True),
        _number("latency"),
        _integer("attempts"),
        _integer("logprobs", optional=True),
        _number("started_at"),
        _bytes("seal"),
        _text("further", optional=True),
        *(_to(column, "text.id") for column in ("logprobs", "params", "reply")),
        _key("id"),
        sa.UniqueConstraint("identity"),
    )


def _create_evaluators() -> None:
    op.create_table(
        "evaluator",
        _text("id"),
        _text("kind"),
        _integer("settings"),
        _to("settings", "text.id"),
        _key("id"),
    )
    op.create_table(
        "campaign_evaluator",
        _text("campaign"),
        _text("evaluator"),
        _text("name"),
        _integer("ordinal"),
        _integer("judgings"),
        _integer("metrics"),
        _integer("stages"),
        _number("started_at"),
        _to("campaign", "campaign.id"),
        _to("evaluator", "evaluator.id"),
        _to("metrics", "text.id"),
        _to("stages", "text.id"),
        _key("campaign", "evaluator"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "evaluation",
        _text("id"),
        _text("identity"),
        _bytes("log"),
        _text("evaluator"),
        _integer("judging"),
        _integer("data"),
        _text("fork_of", optional=True),
        _integer("sample", optional=True),
        _number("created_at"),
        _bytes("seal"),
        _to("evaluator", "evaluator.id"),
        _to("data", "text.id"),
        _to("fork_of", "evaluation.id"),
        _key("id"),
    )


def _create_stages() -> None:
    op.create_table(
        "stage",
        _text("unit"),
        _text("stage"),
        _number("finished_at"),
        _bytes("seal"),
        _key("unit", "stage"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "failure",
        _integer("id"),
        _text("unit"),
        _text("stage"),
        _text("reason"),
        _number("failed_at"),
        _integer("log", optional=True),
        _to("log", "text.id"),
        _key("id"),
    )
    op.create_table(
        "rating",
        _integer("id"),
        _text("evaluation"),
        _text("stage"),
        _integer("position"),
        _text("evaluator"),
        _text("factor"),
        _number("score", optional=True),
        _text("status"),
        _text("reason"),
        _text("rationale"),
        _text("level"),
        _integer("turn", optional=True),
        _number("low"),
        _number("high", optional=True),
        _text("rubric"),
        _text("calls"),
        _bytes("seal"),
        _to("evaluation", "evaluation.id"),
        _key("id"),
    )
    op.create_table(
        "kept",
        _text("evaluation"),
        _text("stage"),
        _integer("body"),
        _bytes("seal"),
        _to("evaluation", "evaluation.id"),
        _to("body", "text.id"),
        _key("evaluation", "stage"),
        sqlite_with_rowid=False,
    )


def _create_debates() -> None:
    op.create_table(
        "debate",
        _text("evaluation"),
        _bytes("log"),
        _integer("max_rounds"),
        _text("protocol"),
        _text("judges"),
        _number("score", optional=True),
        _text("status"),
        _text("reason"),
        _integer("spoke"),
        _integer("rounds"),
        _integer("agreed"),
        _bytes("seal"),
        _to("evaluation", "evaluation.id"),
        _key("evaluation"),
    )
    op.create_table(
        "statement",
        _integer("id"),
        _text("evaluation"),
        _integer("position"),
        _integer("round"),
        _text("role"),
        _text("speaker"),
        _text("text"),
        _number("score", optional=True),
        _text("status"),
        _text("reason"),
        _text("calls"),
        _bytes("seal"),
        _to("evaluation", "debate.evaluation"),
        _key("id"),
    )


def _create_face() -> None:
    op.create_table(
        "face_turn",
        _text("evaluation"),
        _integer("turn"),
        _text("decomposer"),
        _text("particles"),
        _text("status"),
        _text("reason"),
        _text("calls"),
        _bytes("seal"),
        _to("evaluation", "evaluation.id"),
        _key("evaluation", "turn"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "face_score",
        _text("evaluation"),
        _text("aspect"),
        _integer("turn"),
        _integer("particle"),
        _number("score", optional=True),
        _integer("instructions"),
        _text("samples"),
        _bytes("calls"),
        _bytes("seal"),
        _to("evaluation", "evaluation.id"),
        _to("instructions", "text.id"),
        _key("evaluation", "aspect", "turn", "particle"),
        sqlite_with_rowid=False,
    )


def create_indexes() -> None:
    """Create the indexes of columns that are searched and are not the key."""
    op.create_index("ix_campaign_identity", "campaign", ["identity"])
    op.create_index("ix_conversation_identity", "conversation", ["identity"])
    op.create_index("ix_conversation_system", "conversation", ["system"])
    op.create_index("ix_log_digest", "log", ["digest"])
    op.create_index("ix_evaluation_identity", "evaluation", ["identity"])
    op.create_index("ix_evaluation_log", "evaluation", ["log"])
    op.create_index("ix_failure_unit", "failure", ["unit"])
    op.create_index("ix_rating_place", "rating", ["evaluation", "stage", "position"], unique=True)
    op.create_index("ix_statement_place", "statement", ["evaluation", "position"], unique=True)
