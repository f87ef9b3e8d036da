"""The tables whose rows are not one record each; those are in `SealedTable`s.

Values that are searched for in SQL have a column of their own; `seal` is a digest of its row's
content. Hashes, seals and call identities are stored as bytes (`hex(column)` shows them); ids of
campaigns, conversations, evaluators and evaluations are text, since people type them. Repeated
content (prompt parts, parameters, settings) is a row of `text`, and other rows have its number.
"""

from typing import ClassVar

from sqlalchemy import Column, Connection, Dialect, LargeBinary, Table, Text, select
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel

from recjury.errors import StoreError


class Hex(TypeDecorator[str]):
    """Hex digits in Python, half as many bytes in the database."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Hex digits as bytes. Raises ValueError for anything else."""
        return None if value is None else bytes.fromhex(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Bytes as hex digits; any other value, which an edited row may have, is returned
        unchanged."""
        return value.hex() if isinstance(value, bytes) else value


class SchemaRow(SQLModel, table=True):
    """The number of the store's schema, in one row."""

    __tablename__ = "schema_version"

    number: int = Field(primary_key=True)


class TextRow(SQLModel, table=True):
    """A text, stored once. `hash` is SHA-256 over its UTF-8 bytes, and `size` their number.

    `body` is zlib-compressed if that is smaller. So it is compressed exactly if it is shorter than
    `size`, which is the convention that SQLite's own `sqlar_uncompress(body, size)` reads.
    """

    __tablename__ = "text"

    id: int | None = Field(default=None, primary_key=True)
    hash: str = Field(sa_column=Column(Hex, nullable=False, unique=True))
    size: int
    body: bytes


class CallRow(SQLModel, table=True):
    """A finished model call. `request` is JSON: a list of [role, text id, text id, ...].

    `params` (JSON with all other parameters of the request), `reply` and `logprobs` (JSON) are
    texts. `further` is a JSON list of the replies after the first: [text id, finish reason, text id
    of its reasoning or null]. `reasoning` is the text that the endpoint sent as the model's
    thoughts. `fingerprint` is the endpoint's name for its configuration, empty if it sends none.
    `estimated` is 1 if the tokens were not reported but estimated.
    `unit` is the conversation, the evaluation or the campaign (for an optimisation of
    instructions) that asked first. `model` is the campaign's alias, `reply_model` the endpoint's
    name. `cost` is in US dollars, and null if the price is unknown; `latency` is the time
    of the last attempt in seconds, `waited` the seconds that the call waited for limits and between
    attempts (null if unknown); `started_at` is in Unix seconds.
    """

    __tablename__ = "call"

    id: int | None = Field(default=None, primary_key=True)
    identity: str = Field(sa_column=Column(Hex, nullable=False, unique=True))
    model: str
    purpose: str
    unit: str | None = None
    sample: int
    params: int = Field(foreign_key="text.id")
    request: str
    reply: int = Field(foreign_key="text.id")
    reply_model: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float | None
    latency: float
    attempts: int
    logprobs: int | None = Field(default=None, foreign_key="text.id")
    started_at: float
    further: str
    reasoning: int | None = Field(default=None, foreign_key="text.id")
    estimated: int
    waited: float | None = None
    fingerprint: str
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class CampaignRow(SQLModel, table=True):
    """A campaign; what it ran with is in `run`, once for each time it was started.

    A later start finds the campaign by `id`, the digest of what makes it this campaign.
    """

    __tablename__ = "campaign"

    id: str = Field(primary_key=True)
    name: str
    created_at: float


class RunRow(SQLModel, table=True):
    """One start of a campaign. `setup` is a text: the JSON of `campaigns.Setup`.

    `learned` is a text: a JSON object of what was learned of the endpoints, by model.
    """

    __tablename__ = "run"

    id: int | None = Field(default=None, primary_key=True)
    campaign: str = Field(foreign_key="campaign.id", index=True)
    setup: int = Field(foreign_key="text.id")
    started_at: float
    learned: int | None = Field(default=None, foreign_key="text.id")


class CampaignConversationRow(SQLModel, table=True):
    """The conversations of a campaign, in the plan's order; campaigns can share a conversation.

    `set_aside` is 1 if another version has replaced it: then only its costs count.
    """

    __tablename__ = "campaign_conversation"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    campaign: str = Field(primary_key=True, foreign_key="campaign.id")
    conversation: str = Field(primary_key=True, foreign_key="conversation.id")
    ordinal: int
    set_aside: int


class LogRow(SQLModel, table=True):
    """A conversation's log. `body` is its canonical JSON and `digest` the log's id.

    `seconds` and `costs` (US dollars) are JSON lists with one number for each system turn, or null
    if unknown. For a turn whose calls are in the store, the calls are used instead.
    """

    __tablename__ = "log"

    conversation: str = Field(primary_key=True, foreign_key="conversation.id")
    digest: str = Field(sa_column=Column(Hex, nullable=False, index=True))
    body: str = Field(sa_column=Column(Text, nullable=False))
    seconds: str | None = None
    costs: str | None = None


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


class StageRow(SQLModel, table=True):
    """A finished stage of an evaluation, or "converse" of a conversation (`unit`).

    It is written together with the results of the stage. `seal` is a digest over the seals of all
    those rows, so that a deleted row is noticed.
    """

    __tablename__ = "stage"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_with_rowid": False}

    unit: str = Field(primary_key=True)
    stage: str = Field(primary_key=True)
    finished_at: float
    seal: str = Field(sa_column=Column(Hex, nullable=False))


class FailureRow(SQLModel, table=True):
    """A failed stage of an evaluation, or "converse" of a conversation (`unit`), with the reason.

    A later attempt may have finished it. `log` is a text: the JSON of a failed conversation, up to
    the failure.
    """

    __tablename__ = "failure"

    id: int | None = Field(default=None, primary_key=True)
    unit: str = Field(index=True)
    stage: str
    reason: str
    failed_at: float
    log: int | None = Field(default=None, foreign_key="text.id")


def table_of(model: type[SQLModel]) -> Table:
    """The SQLAlchemy table of a model, for queries that need rows and not objects."""
    return SQLModel.metadata.tables[str(model.__tablename__)]


def one_id(connection: Connection, ids: Column[str], prefix: str, what: str) -> str:
    """The only value of a column of ids that begins with `prefix`; StoreError for none or
    several."""
    query = select(ids).where(ids.startswith(prefix, autoescape=True)).limit(2)
    found = tuple(connection.execute(query).scalars())
    if len(found) != 1:
        many = f"several {what}s begin" if found else f"no {what} begins"
        raise StoreError(f"{many} with {prefix}: give more of the id")
    return found[0]
