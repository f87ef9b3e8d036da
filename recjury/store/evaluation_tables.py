"""The tables of evaluations: who evaluates what, and what each stage of it leaves behind."""

from typing import ClassVar

from sqlalchemy import Column, ForeignKey, Index
from sqlmodel import Field, SQLModel

from recjury.store.tables import Hex


class EvaluatorRow(SQLModel, table=True):
    """A version of an evaluator. `id` is the digest of its kind and `settings` (a text: JSON)."""

    __tablename__ = "evaluator"

    id: str = Field(primary_key=True)
    kind: str
    settings: int = Field(foreign_key="text.id")


class CampaignEvaluatorRow(SQLModel, table=True):
    """Who evaluates a campaign's conversations, under which name, and how often each.

    `metrics` and `stages` are texts: JSON lists of all that the campaign has had it rate, and of
    what it was to do when it was last begun, at `started_at`.
    """

    __tablename__ = "campaign_evaluator"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    campaign: str = Field(primary_key=True, foreign_key="campaign.id")
    evaluator: str = Field(primary_key=True, foreign_key="evaluator.id")
    name: str
    ordinal: int
    judgings: int
    metrics: int = Field(foreign_key="text.id")
    stages: int = Field(foreign_key="text.id")
    started_at: float


class EvaluationRow(SQLModel, table=True):
    """One log under one version of an evaluator, once for each judging (0-based).

    `log` is the id of the log, whichever conversations have it. `data` is a text: JSON of what
    of the corpus can change the ratings. `fork_of` names the evaluation that this one is a
    changed copy of. `identity` is the digest of all that; in stores that were migrated it is not
    the id, and several rows may share it. `sample` is what its calls ask for, as whoever entered
    it first had it; the seal does not cover it.
    """

    __tablename__ = "evaluation"

    id: str = Field(primary_key=True)
    identity: str = Field(index=True)
    log: str = Field(sa_column=Column(Hex, nullable=False, index=True))
    evaluator: str = Field(foreign_key="evaluator.id")
    judging: int
    data: int = Field(foreign_key="text.id")
    fork_of: str | None = Field(default=None, foreign_key="evaluation.id")
    sample: int | None = None
    created_at: float
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class RatingRow(SQLModel, table=True):
    """One rating, as `records.Rating` has it; `calls` is a JSON list of call identities."""

    __tablename__ = "rating"
    __table_args__: ClassVar[tuple[object, ...]] = (
        Index("ix_rating_place", "evaluation", "stage", "position", unique=True),
    )

    id: int | None = Field(default=None, primary_key=True)
    evaluation: str = Field(foreign_key="evaluation.id")
    stage: str
    position: int
    evaluator: str
    factor: str
    score: float | None
    status: str
    reason: str
    rationale: str
    level: str
    turn: int | None
    low: float
    high: float | None
    rubric: str
    calls: str
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class KeptRow(SQLModel, table=True):
    """What else a stage left behind: `body` is a text, a JSON object."""

    __tablename__ = "kept"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    evaluation: str = Field(primary_key=True, foreign_key="evaluation.id")
    stage: str = Field(primary_key=True)
    body: int = Field(foreign_key="text.id")
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class DebateRow(SQLModel, table=True):
    """A debate and its verdict. `log` is the id of the log it was held over.

    `judges` is a JSON list of the evaluators whose ratings the roles were given; `agreed` is
    1 or 0.
    """

    __tablename__ = "debate"

    evaluation: str = Field(primary_key=True, foreign_key="evaluation.id")
    log: str = Field(sa_column=Column(Hex, nullable=False))
    max_rounds: int
    protocol: str
    judges: str
    score: float | None
    status: str
    reason: str
    spoke: int
    rounds: int
    agreed: int
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class StatementRow(SQLModel, table=True):
    """What one role said in one round, as `records.Statement` has it, in transcript order."""

    __tablename__ = "statement"
    __table_args__: ClassVar[tuple[object, ...]] = (
        Index("ix_statement_place", "evaluation", "position", unique=True),
    )

    id: int | None = Field(default=None, primary_key=True)
    evaluation: str = Field(sa_column=Column(ForeignKey("debate.evaluation"), nullable=False))
    position: int
    round: int
    role: str
    speaker: str
    text: str
    score: float | None
    status: str
    reason: str
    calls: str
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class FaceTurnRow(SQLModel, table=True):
    """A system turn as FACE's particles. `particles` is JSON: a list of [act, mention, feedback].

    Without particles, `status` and `reason` say whether the turn could not be decomposed.
    """

    __tablename__ = "face_turn"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    evaluation: str = Field(primary_key=True, foreign_key="evaluation.id")
    turn: int = Field(primary_key=True)
    decomposer: str
    particles: str
    status: str
    reason: str
    calls: str
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class FaceScoreRow(SQLModel, table=True):
    """What one particle got on one aspect: `score` is the mean over instructions, or null.

    `instructions` is a text: a JSON list of names. `samples` has a group for each of them, in
    that order, divided by spaces: a digit per sample, "-" for one that is missing; or "=" and
    the expectation under log-probabilities ("=-" for none). `calls` are the identities of the
    first call of each, 16 bytes one after the other; 16 zeros where there is none.
    """

    __tablename__ = "face_score"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    evaluation: str = Field(primary_key=True, foreign_key="evaluation.id")
    aspect: str = Field(primary_key=True)
    turn: int = Field(primary_key=True)
    particle: int = Field(primary_key=True)
    score: float | None
    instructions: int = Field(foreign_key="text.id")
    samples: str
    calls: str = Field(sa_column=Column(Hex, nullable=False))
    seal: str = Field(sa_column=Column(Hex, nullable=False))
