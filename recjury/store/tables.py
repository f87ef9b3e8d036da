"""The tables. Columns are what is asked for in SQL; `seal` is a digest of its row's content.

Hashes, seals and call identities are stored as bytes (`hex(column)` shows them); trial ids are
text, since people type them. What recurs (prompt parts, parameters, settings) is a row of `text`
and is referred to by its number.
"""

from typing import ClassVar

from sqlalchemy import Column, Dialect, ForeignKey, Index, LargeBinary, Table, Text
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel


class Hex(TypeDecorator[str]):
    """Hex digits in Python, half as many bytes in the database."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Hex digits as bytes; raises ValueError for anything else."""
        return None if value is None else bytes.fromhex(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Bytes as hex digits; what an edited row may hold instead is left as it is."""
        return value.hex() if isinstance(value, bytes) else value


class TextRow(SQLModel, table=True):
    """A text, kept once. `hash` is SHA-256 over its plain bytes (UTF-8), `size` their number.

    `body` is zlib-compressed where that is smaller: exactly where it is shorter than `size`,
    which is the convention that SQLite's own `sqlar_uncompress(body, size)` reads.
    """

    __tablename__ = "text"

    id: int | None = Field(default=None, primary_key=True)
    hash: str = Field(sa_column=Column(Hex, nullable=False, unique=True))
    size: int
    body: bytes


class CallRow(SQLModel, table=True):
    """A finished model call. `request` is JSON: a list of [role, text id, text id, ...].

    `params` (JSON of everything else that was asked), `reply` and `logprobs` (JSON) are texts.
    `further` is a JSON list of the replies after the first: each a text's number, or [number,
    finish reason] where that is not the first's. `trial` is the trial that asked first, or the
    campaign itself where it has none (an optimisation of instructions); `model` the campaign's
    alias, `reply_model` the endpoint's name; `cost` is in US dollars, `latency` in seconds,
    `started_at` in Unix seconds.
    """

    __tablename__ = "call"

    id: int | None = Field(default=None, primary_key=True)
    identity: str = Field(sa_column=Column(Hex, nullable=False, unique=True))
    model: str
    purpose: str
    trial: str | None = None
    sample: int
    params: int = Field(foreign_key="text.id")
    request: str
    reply: int = Field(foreign_key="text.id")
    reply_model: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float
    latency: float
    attempts: int
    logprobs: int | None = Field(default=None, foreign_key="text.id")
    started_at: float
    seal: str = Field(sa_column=Column(Hex, nullable=False))
    further: str | None = None


class CampaignRow(SQLModel, table=True):
    """A campaign; what it ran with is in `run`, once for each time it was started."""

    __tablename__ = "campaign"

    id: str = Field(primary_key=True)
    name: str
    created_at: float


class RunRow(SQLModel, table=True):
    """One start of a campaign. `setup` is a text: JSON of what it ran with (`campaigns.Setup`)."""

    __tablename__ = "run"

    id: int | None = Field(default=None, primary_key=True)
    campaign: str = Field(foreign_key="campaign.id", index=True)
    setup: int = Field(foreign_key="text.id")
    started_at: float


class TrialRow(SQLModel, table=True):
    """One system on one scenario, once. `id` is the digest of all that can change its result."""

    __tablename__ = "trial"

    id: str = Field(primary_key=True)
    system: str = Field(index=True)
    scenario: str
    corpus: str
    repeat: int
    seed: int
    settings: int = Field(foreign_key="text.id")
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class CampaignTrialRow(SQLModel, table=True):
    """Which trials a campaign consists of, in the plan's order; a trial may serve several."""

    __tablename__ = "campaign_trial"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    campaign: str = Field(primary_key=True, foreign_key="campaign.id")
    trial: str = Field(primary_key=True, foreign_key="trial.id")
    ordinal: int


class StageRow(SQLModel, table=True):
    """A finished stage of a trial; it is written together with what the stage produced.

    `seal` is a digest over the seals of all those rows, so that a row taken away shows.
    """

    __tablename__ = "stage"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    trial: str = Field(primary_key=True, foreign_key="trial.id")
    stage: str = Field(primary_key=True)
    finished_at: float
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class LogRow(SQLModel, table=True):
    """A trial's conversation log. `body` is its canonical JSON and `digest` the log's id."""

    __tablename__ = "log"

    trial: str = Field(primary_key=True, foreign_key="trial.id")
    digest: str = Field(sa_column=Column(Hex, nullable=False))
    body: str = Field(sa_column=Column(Text, nullable=False))


class RatingRow(SQLModel, table=True):
    """One rating, as `records.Rating` has it; `calls` is a JSON list of call identities."""

    __tablename__ = "rating"
    __table_args__: ClassVar[tuple[object, ...]] = (
        Index("ix_rating_place", "trial", "stage", "position", unique=True),
    )

    id: int | None = Field(default=None, primary_key=True)
    trial: str = Field(foreign_key="trial.id")
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
    high: float
    rubric: str
    calls: str
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class DebateRow(SQLModel, table=True):
    """A debate and its verdict. `log` is the id of the log it was held over.

    `judges` is a JSON list of the evaluators whose ratings the roles were given; `agreed` is
    1 or 0.
    """

    __tablename__ = "debate"

    trial: str = Field(primary_key=True, foreign_key="trial.id")
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
        Index("ix_statement_place", "trial", "position", unique=True),
    )

    id: int | None = Field(default=None, primary_key=True)
    trial: str = Field(sa_column=Column(ForeignKey("debate.trial"), nullable=False))
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


class FailureRow(SQLModel, table=True):
    """A stage of a trial that failed, and why; a later attempt may have finished it.

    `log` is a text: the JSON of a conversation that failed, as far as it went.
    """

    __tablename__ = "failure"

    id: int | None = Field(default=None, primary_key=True)
    trial: str = Field(foreign_key="trial.id", index=True)
    stage: str
    reason: str
    failed_at: float
    log: int | None = Field(default=None, foreign_key="text.id")


class FaceTurnRow(SQLModel, table=True):
    """A system turn as FACE's particles. `particles` is JSON: a list of [act, mention, feedback].

    Without particles, `status` and `reason` say whether the turn could not be decomposed.
    """

    __tablename__ = "face_turn"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    trial: str = Field(primary_key=True, foreign_key="trial.id")
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

    trial: str = Field(primary_key=True, foreign_key="trial.id")
    aspect: str = Field(primary_key=True)
    turn: int = Field(primary_key=True)
    particle: int = Field(primary_key=True)
    score: float | None
    instructions: int = Field(foreign_key="text.id")
    samples: str
    calls: str = Field(sa_column=Column(Hex, nullable=False))
    seal: str = Field(sa_column=Column(Hex, nullable=False))


def table_of(model: type[SQLModel]) -> Table:
    """The SQLAlchemy table of a model, for queries that need rows and not objects."""
    return SQLModel.metadata.tables[str(model.__tablename__)]
