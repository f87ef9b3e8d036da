"""Evaluations: a log under a version of an evaluator, for all conversations with that log."""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Index,
    Select,
    and_,
    case,
    func,
    select,
)

from recjury.records import JSON, Record, digest
from recjury.store.column_types import Hex, PlainText, Real, Whole
from recjury.store.evaluators import CAMPAIGN_EVALUATORS, EVALUATORS
from recjury.store.fetching import fetch
from recjury.store.logs import LOGS
from recjury.store.places import PLACES
from recjury.store.sealed import Damaged, SealedTable, refuse
from recjury.store.stages import CONVERSE
from recjury.store.tables import (
    StageRow,
    one_id,
    table_of,
)
from recjury.store.texts import chunks
from recjury.store.writer import Transaction


class PlannedEvaluation(Record):
    """An evaluation to do. `identity` is `records.evaluation_id` of the other fields but `sample`.

    They are the id of the log, the evaluator's version, the part of the corpus that can change the
    ratings, and the judging (0-based). `sample` is the sample number that its calls ask for.
    """

    identity: str
    log: str
    evaluator: str
    judging: int = 0
    data: Mapping[str, object] = {}
    sample: int = 0


class EvaluationHandle(NamedTuple):
    """The row of an evaluation: its id, and the sample number that its calls ask for.

    The sample number is the one with which the row was first written. `is_new` is True if the row
    did not exist, so that no stage of it is done.
    """

    id: str
    sample: int
    is_new: bool


class StoredEvaluation(Record):
    """An evaluation in the store; `evaluator` is the version, `conversations` are those with its
    log.

    `id` is the identity, or for another attempt at the same evaluation a digest of its own.
    `fork_of` is the id of the evaluation that this one is a changed copy of. `sample` is the sample
    number that its calls ask for, and `data` the part of the corpus that can change the ratings.
    `attempt` counts how often the evaluation was done again before.
    """

    id: str
    identity: str
    log: str
    evaluator: str
    kind: str
    judging: int
    data: Mapping[str, object]
    fork_of: str | None
    sample: int
    conversations: tuple[str, ...]
    attempt: int = 0


EVALUATIONS = SealedTable(
    "evaluation",
    PlannedEvaluation,
    Column("id", PlainText, primary_key=True),
    Column("identity", PlainText, nullable=False, index=True),
    Column("log", Hex(), nullable=False, index=True),
    Column("evaluator", PlainText, ForeignKey("evaluator.id"), nullable=False),
    Column("attempt", Whole, nullable=False),
    Column("fork_of", PlainText, ForeignKey("evaluation.id"), nullable=True),
    Column("created_at", Real, nullable=False),
    named="evaluation {id}",
)
"""`attempt` is 0, or counts how often an evaluation was done again because ratings were missing:
such rows share the identity, and the latest one counts. `created_at` is in Unix seconds."""

_IS_FORK = EVALUATIONS.c.fork_of.is_not(None)
# Of forks alone: SQLite would look for the others in it, which are nearly all rows.
Index("ix_evaluation_fork", EVALUATIONS.c.fork_of, sqlite_where=_IS_FORK, postgresql_where=_IS_FORK)


def add_evaluation(
    transaction: Transaction, planned: PlannedEvaluation, fork_of: str | None = None
) -> str:
    """The id of the row of an evaluation, which is added if it is missing."""
    known = ids_of_evaluations(transaction.connection, [planned.identity])
    if not known:
        EVALUATIONS.insert(transaction, [(planned, _keys(planned.identity, fork_of))])
    return known.get(planned.identity, planned.identity)


def add_attempt(transaction: Transaction, planned: PlannedEvaluation) -> str:
    """Add a row for another attempt at an evaluation that the store has, and return its id."""
    table = EVALUATIONS.c
    query = select(func.max(table.attempt)).where(table.identity == planned.identity)
    attempt = (transaction.connection.execute(query).scalar_one() or 0) + 1
    own = digest(["attempt", planned.identity, attempt])
    EVALUATIONS.insert(transaction, [(planned, _keys(own, None, attempt))])
    return own


def _keys(own: str, fork_of: str | None, attempt: int = 0) -> dict[str, JSON]:
    return {"id": own, "attempt": attempt, "fork_of": fork_of, "created_at": time.time()}


def ids_of_evaluations(connection: Connection, identities: Iterable[str]) -> dict[str, str]:
    """The row that counts for each identity in the store."""
    table = EVALUATIONS.table
    query = select(table.c.identity, table.c.id).order_by(*what_counts_last())
    return {
        row.identity: row.id
        for some in chunks(identities)
        for row in connection.execute(query.where(table.c.identity.in_(some)))
    }


def find_handle(connection: Connection, identity: str, *, is_new: bool) -> EvaluationHandle | None:
    """The row of an identity, or None."""
    table = EVALUATIONS.table
    query = select(table.c.id, table.c.sample).where(table.c.identity == identity)
    rows = connection.execute(query.order_by(*what_counts_last())).all()
    return EvaluationHandle(rows[-1].id, rows[-1].sample, is_new) if rows else None


@cache
def what_counts_last() -> tuple[ColumnElement[Any], ...]:
    """An order of `evaluation` in which the row that counts for an identity comes last.

    A row with a finished stage counts before a row without one; among those, the latest attempt,
    and then the row whose stage was finished last, or that was begun last.
    """
    table, stages = EVALUATIONS.table, table_of(StageRow)
    finished = select(func.max(stages.c.finished_at)).where(stages.c.unit == table.c.id)
    latest = finished.scalar_subquery()
    begun = table.c.created_at
    newest = case((latest > begun, latest), else_=begun)
    return (latest.is_not(None), table.c.attempt, newest, table.c.id)


def oldest_first() -> tuple[ColumnElement[object], ...]:
    """The order in which evaluations were begun."""
    return (EVALUATIONS.c.created_at, EVALUATIONS.c.id)


def attempts_of(connection: Connection, evaluation: str) -> tuple[str, ...]:
    """All attempts at the evaluation that `evaluation` is one of, the oldest first."""
    table = EVALUATIONS.table
    own = select(table.c.identity).where(table.c.id == evaluation).scalar_subquery()
    query = select(table.c.id).where(table.c.identity == own)
    return tuple(connection.execute(query.order_by(table.c.attempt, *oldest_first())).scalars())


def read_evaluations(
    connection: Connection, ids: Iterable[str], damaged: Damaged = refuse
) -> dict[str, StoredEvaluation]:
    """Evaluations by id, in the given order; `damaged` is called for those missing or altered."""
    wanted, evaluators = tuple(ids), EVALUATORS.table
    query = select(evaluators.c.id, evaluators.c.kind)
    kinds = {row.id: row.kind for row in connection.execute(query)}
    about = _conversations(connection, wanted)
    return {
        row.id: StoredEvaluation(
            **dict(planned),
            id=row.id,
            attempt=row.attempt,
            fork_of=row.fork_of,
            kind=kinds.get(row.evaluator, ""),
            conversations=tuple(about.get(row.id, ())),
        )
        for row, planned in EVALUATIONS.find(connection, wanted, damaged)
    }


def _conversations(connection: Connection, evaluations: Iterable[str]) -> dict[str, list[str]]:
    """The conversations that each evaluation is about, the oldest first."""
    table, logs = EVALUATIONS.table, LOGS.table
    stages = table_of(StageRow).c
    held = select(stages.finished_at).where(stages.unit == logs.c.conversation)
    held_at = held.where(stages.stage == CONVERSE).scalar_subquery()
    query = select(table.c.id, logs.c.conversation).join(logs, logs.c.digest == table.c.log)
    query = query.order_by(held_at, logs.c.conversation)
    found: dict[str, list[str]] = {}
    for some in chunks(evaluations):
        for row in connection.execute(query.where(table.c.id.in_(some))):
            found.setdefault(row.id, []).append(row.conversation)
    return found


def find_evaluation(connection: Connection, prefix: str) -> StoredEvaluation:
    """The only evaluation whose id begins with `prefix`. Raises StoreError for none or several."""
    found = one_id(connection, EVALUATIONS.c.id, prefix, "evaluation")
    return read_evaluations(connection, [found])[found]


def of_campaign(campaign: str) -> Select[tuple[str]]:
    """The ids of a campaign's evaluations: by its evaluators, of its conversations' logs.

    Conversations that were set aside are included.
    """
    return select(EVALUATIONS.c.id).where(by_campaign(campaign))


def by_campaign(campaign: str) -> ColumnElement[bool]:
    """The condition that a row of `evaluation` belongs to the campaign, as in `of_campaign`."""
    table, logs = EVALUATIONS.table, LOGS.table
    links, evaluators = PLACES.table, CAMPAIGN_EVALUATORS.table
    own_logs = select(logs.c.digest).join(links, links.c.conversation == logs.c.conversation)
    own = select(evaluators.c.evaluator).where(evaluators.c.campaign == campaign)
    return and_(
        table.c.log.in_(own_logs.where(links.c.campaign == campaign)),
        table.c.evaluator.in_(own),
    )


class LogEvaluation(NamedTuple):
    """An evaluation of a log; it is not a fork."""

    id: str
    log: str
    evaluator: str
    judging: int


_NO_FORKS = select(*(EVALUATIONS.c[name] for name in LogEvaluation._fields)).where(
    EVALUATIONS.c.fork_of.is_(None)
)


def evaluations_of_logs(
    connection: Connection,
    logs: Iterable[str],
    wanted: Callable[[str, int], bool],
    *,
    whole: bool = True,
) -> dict[str, list[LogEvaluation]]:
    """The evaluations that count of each log: one for each evaluator and judging that is `wanted`.

    Raises StoreError if its row was altered; without `whole`, rows are not compared with their
    seals.
    """
    own = EVALUATIONS.c.log
    found: dict[str, list[LogEvaluation]] = {}
    for some in chunks(logs):
        rows = list(fetch(connection, _NO_FORKS, own, some))
        if len({row[1:] for row in rows}) < len(rows):  # otherwise the order says nothing
            query = _NO_FORKS.where(own.in_(some)).order_by(*what_counts_last())
            rows = list({row[1:]: row for row in map(tuple, connection.execute(query))}.values())
        every = map(LogEvaluation._make, rows)
        kept = [each for each in every if wanted(each.evaluator, each.judging)]
        if whole:
            list(EVALUATIONS.find(connection, [each.id for each in kept]))
        for each in kept:
            found.setdefault(each.log, []).append(each)
    return found
