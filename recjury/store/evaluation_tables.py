"""The tables of evaluations: the evaluators of a campaign, and the results of each stage."""

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
    """An evaluator of a campaign's conversations, with its name and the number of judgings.

    `metrics` and `stages` are texts with JSON lists. `metrics` has all metrics that the campaign
    has ever asked it for; `stages` has those of the latest start, at `started_at` (Unix seconds).
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

    `log` is the id of the log, which several conversations may have. `data` is a text: JSON with
    the part of the corpus that can change the ratings. `fork_of` is the id of the evaluation that
    this one is a changed copy of. `identity` is the digest of all these values; in migrated stores
    it differs from the id, and several rows may share it. `sample` is the sample number that its
    calls ask for, set when the row was first written; the seal does not cover it. `attempt` is 0,
    or counts how often the evaluation was done again because ratings were missing: such rows share
    the identity, and the latest one counts.
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
    attempt: int = 0


class RatingRow(SQLModel, table=True):
    """One rating with the fields of `records.Rating`; `calls` is a JSON list of call identities.

    `repaired` is null if nothing was repaired.
    """

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
    repaired: str | None = None


class KeptRow(SQLModel, table=True):
    """Another result of a stage: `body` is a text with a JSON object."""

    __tablename__ = "kept"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    evaluation: str = Field(primary_key=True, foreign_key="evaluation.id")
    stage: str = Field(primary_key=True)
    body: int = Field(foreign_key="text.id")
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class DebateRow(SQLModel, table=True):
    """A debate and its verdict. `log` is the id of the debated log.

    `judges` is a JSON list of the evaluators whose ratings the roles were given. `agreed` is 1 or
    0.
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
    """What one role said in one round, with the fields of `records.Statement`, in transcript
    order.

    `repaired` is null if nothing was repaired.
    """

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
    repaired: str | None = None


class FaceTurnRow(SQLModel, table=True):
    """The particles of a system turn, for FACE. `particles` is a JSON list of [act, mention,
    feedback].

    If there are no particles, `status` and `reason` say whether the turn could not be decomposed.
    `repaired` is as in `RatingRow`.
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
    repaired: str | None = None


class FaceScoreRow(SQLModel, table=True):
    """The scores of one particle on one aspect: `score` is the mean over instructions, or null.

    `instructions` is a text: a JSON list of names. `samples` has one group for each name, in that
    order, separated by spaces. A group is one digit per sample ("-" if the sample is missing), or
    "=" and the expectation under log-probabilities ("=-" if there is none). `calls` has the
    identities of each instruction's first call, 16 bytes each without a separator; 16 zero bytes
    mean that there is no call.
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
