"""The thirteen tables. Keys are natural, and each text is stored once, under its hash.

Times are ISO 8601 in UTC with their offset. docs/reference/store.md is for readers.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, CheckConstraint, Connection, Float, Index, Table, insert
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from recjury.store.texts import AnyText

SCHEMA = 1
"""The version of the tables. A store of another version is not opened."""

NO_STORE = (
    "is a database of another program, or a store of recjury 0.2: name another one (`python -m "
    "benchmarks.old_store OLD.db OUT_DIR`, in recjury's source, writes the logs and ratings of 0.2 "
    "to files)"
)
"""What is said of a database without our marks, after its name."""


class Row(SQLModel, registry=registry()):
    """A row of any table. Tables of the program that imports recjury are not among them."""

    __table__: ClassVar[Table]


class _List(JSON):
    """A column for a list of plain data."""


def _key(**more: Any) -> Any:
    return Field(primary_key=True, sa_type=AnyText, **more)


def _text(default: str | None = "", **more: Any) -> Any:
    return Field(default=default, sa_type=AnyText, **more)


def _json() -> Any:
    return Field(sa_type=JSON)


def _list() -> Any:
    return Field(sa_type=_List)


class Meta(Row, table=True):
    """What the store is: `schema` is the version of its tables."""

    key: str = _key()
    value: str = _text()


class Text(Row, table=True):
    """A part of a prompt, a reply, a log, a rationale or a statement."""

    hash: str = _key()
    text: str = _text()


class Campaign(Row, table=True):
    """A campaign as its last run had it. `fresh` labels the systems of `--fresh`."""

    name: str = _key()
    config: dict[str, Any] = _json()
    fresh: dict[str, str] = _json()
    created_at: str = _text()


class Run(Row, table=True):
    """A process that worked on a campaign: `process_start` is in Unix seconds.

    `state`: running, finished, interrupted, stopped, failed.
    """

    id: int | None = Field(default=None, primary_key=True)
    campaign: str = _text(foreign_key="campaign.name")
    host: str = _text()
    pid: int
    process_start: float
    started_at: str = _text()
    ended_at: str | None = _text(None)
    state: str = _text()
    reason: str = _text()
    versions: dict[str, str] = _json()


NEWEST_EVALUATORS = """(
        SELECT * FROM campaign_evaluator x WHERE x.run = (
            SELECT MAX(y.run) FROM campaign_evaluator y
            WHERE y.campaign = x.campaign AND y.name = x.name
        )
    )"""
"""A table for queries: of the evaluators of one name in a campaign, the newest one."""

PLANNED_TRIALS = """(
        SELECT * FROM (
            SELECT x.*, ROW_NUMBER() OVER (
                PARTITION BY x.system, x.version, x.user, x.corpus, x.scenario, x.repeat
                ORDER BY x.run DESC
            ) AS age
            FROM (
                SELECT p.*,
                    FIRST_VALUE(p.version) OVER (
                        PARTITION BY p.system ORDER BY p.run DESC) AS newest,
                    FIRST_VALUE(p.user_version) OVER (
                        PARTITION BY p.user ORDER BY p.run DESC) AS newest_user
                FROM plan p WHERE p.campaign = :campaign
            ) x WHERE x.user_version = x.newest_user
        ) y WHERE y.age = 1
    )"""
"""A table for queries: the trials of `:campaign`, of all versions of systems.

A trial is there as it was planned last, with the newest version of its user. `newest` is the
version of its system that the last run with that system had.
"""

NEWEST_TRIALS = f"(SELECT * FROM {PLANNED_TRIALS} z WHERE z.version = z.newest)"  # noqa: S608
"""A table for queries: the trials of `:campaign` with the newest versions of systems and users."""


class Plan(Row, table=True):
    """A conversation of a campaign, by the names that the campaign gives. `run` planned it last."""

    campaign: str = _key(foreign_key="campaign.name")
    conversation: str = _key(foreign_key="conversation.id")
    run: int
    ordinal: int
    system: str = _text()
    version: str = _text()
    user: str = _text()
    user_version: str = _text()
    corpus: str = _text()
    scenario: str = _text()
    repeat: int


class Conversation(Row, table=True):
    """A conversation to be played. `state`: planned, done, failed.

    `play` is the id that the system saw, `log` a hash, `seconds` a list with the duration of each
    system turn. `tries` counts the runs in which the user was unreadable.
    """

    __table_args__ = (CheckConstraint("state = 'planned' OR log IS NOT NULL"),)

    id: str = _key()
    state: str = _text()
    play: str = _text()
    log: str | None = _text(None, foreign_key="text.hash")
    ending: str = _text()
    rounds: int = 0
    reason: str = _text()
    tries: int = 0
    seconds: list[float] = _list()
    finished_at: str | None = _text(None)


class Evaluator(Row, table=True):
    """An evaluator under its identity."""

    id: str = _key()
    kind: str = _text()
    settings: dict[str, Any] = _json()
    metrics: list[dict[str, Any]] = _list()


class CampaignEvaluator(Row, table=True):
    """An evaluator of a campaign, by the name that the campaign gives it."""

    __tablename__ = "campaign_evaluator"

    campaign: str = _key()
    evaluator: str = _key(foreign_key="evaluator.id")
    name: str = _text()
    judgings: int
    run: int


class Evaluation(Row, table=True):
    """A log rated by an evaluator. `state`: done, or incomplete after a failure.

    `tries` counts how often it was finished with something unreadable in it.
    """

    id: str = _key()
    conversation: str = _text(foreign_key="conversation.id")
    evaluator: str = _text(foreign_key="evaluator.id")
    judging: int
    state: str = _text()
    tries: int
    finished_at: str = _text()


class Rating(Row, table=True):
    """A score, or the reason why there is none. `turn` is -1 for the dialogue.

    `rationale` is a hash. `number` counts the ratings, evidence and statements of an evaluation.
    """

    evaluation: str = _key(foreign_key="evaluation.id")
    metric: str = _key()
    rater: str = _key()
    turn: int = Field(primary_key=True)
    status: str = _text()
    score: float | None = None
    reason: str = _text()
    rationale: str | None = _text(None, foreign_key="text.hash")
    calls: list[str] = _list()
    number: int


class Evidence(Row, table=True):
    """Something that ratings rest on."""

    evaluation: str = _key(foreign_key="evaluation.id")
    number: int = Field(primary_key=True)
    name: str = _text()
    value: Any = _json()


class Statement(Row, table=True):
    """What a role said in a round of a debate. `text` is a hash."""

    evaluation: str = _key(foreign_key="evaluation.id")
    round: int = Field(primary_key=True)
    role: str = _key()
    speaker: str = _text()
    status: str = _text()
    score: float | None = None
    reason: str = _text()
    text: str | None = _text(None, foreign_key="text.hash")
    calls: list[str] = _list()
    number: int


class Call(Row, table=True):
    """A reply to a prompt. `campaign`, `conversation` and `evaluation` asked for it first.

    `prompt` is a list of [role, hash of a part, ...], `reply` a hash, `cost` in US dollars. `more`
    has the reply's finish, thoughts, logprobs and the endpoint's dialect, as far as there are any.
    """

    id: str = _key()
    campaign: str = _text()
    conversation: str = _text()
    evaluation: str = _text()
    model: str = _text()
    purpose: str = _text()
    prompt: list[list[str]] = _list()
    code: str = _text()
    reply: str = _text(foreign_key="text.hash")
    more: dict[str, Any] = _json()
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    served: str = _text()
    created_at: str = _text()


def _columns(table: type[Row], names: str) -> list[Any]:
    return [table.__table__.c[name] for name in names.split()]


# SQLite takes any value in any column; no other program is to write what cannot be read.
_CHECKS = {
    Float: "{0} BETWEEN -1e300 AND 1e300",
    _List: "CASE WHEN json_valid({0}) THEN json_type({0}) ELSE '' END = 'array'",
}
for _table in Row.metadata.tables.values():
    for _column in _table.columns:
        if _check := _CHECKS.get(type(_column.type)):
            _table.append_constraint(
                CheckConstraint(_check.format(_column.name)).ddl_if(dialect="sqlite")
            )

# These two hold all columns that tables of scores and of progress read.
Index("rating_table", *_columns(Rating, "evaluation metric rater turn status score"))
Index("evaluation_table", *_columns(Evaluation, "conversation evaluator judging state tries"))
# What is left of a run is read in the order of its plan.
Index("plan_order", *_columns(Plan, "run ordinal"))


def make_tables(connection: Connection) -> None:
    """Make all tables in an empty database."""
    Row.metadata.create_all(connection)
    connection.execute(insert(Meta.__table__).values(key="schema", value=str(SCHEMA)))


def now() -> str:
    """The time as tables hold it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


Rows = Sequence[Mapping[str, Any]]


def add_new(connection: Connection, table: type[Row], rows: Rows) -> None:
    """Insert rows; those whose key is there stay as they are."""
    if rows:
        connection.execute(_insert(connection, table).on_conflict_do_nothing(), rows)


def put(connection: Connection, table: type[Row], rows: Rows, keep: Iterable[str] = ()) -> None:
    """Insert rows in place of those with the same key; the columns `keep` of those stay."""
    if rows:
        add, keys = _insert(connection, table), table.__table__.primary_key.columns.keys()
        new = {name: add.excluded[name] for name in rows[0].keys() - {*keys, *keep}}
        connection.execute(add.on_conflict_do_update(index_elements=keys, set_=new), rows)


def _insert(connection: Connection, table: type[Row]) -> Any:
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table.__table__)
