"""Evaluations: a log under a version of an evaluator, for all conversations with that log."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import orjson
from sqlalchemy import ColumnElement, Connection, Select, and_, func, literal_column, select

from recjury.records import JSON, Record, digest
from recjury.store.engine import insert_new
from recjury.store.evaluation_tables import (
    CampaignEvaluatorRow,
    EvaluationRow,
    EvaluatorRow,
)
from recjury.store.sealed import AnyRow, Damaged, SealedTable, refuse
from recjury.store.stages import CONVERSE
from recjury.store.tables import CampaignConversationRow, LogRow, StageRow, one_id, table_of
from recjury.store.texts import Kept, chunks, texts_of_ids
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


class Entered(NamedTuple):
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

    `id` is its id in this store; in a migrated store it differs from the identity. `fork_of` is the
    id of the evaluation that this one is a changed copy of. `sample` is the sample number that its
    calls ask for. `attempt` counts how often the evaluation was done again before.
    """

    id: str
    identity: str
    log: str
    evaluator: str
    kind: str
    judging: int
    fork_of: str | None
    sample: int
    conversations: tuple[str, ...]
    attempt: int = 0


def add_evaluations(
    transaction: Transaction, wanted: Sequence[PlannedEvaluation], fork_of: str | None = None
) -> dict[str, str]:
    """The row of each identity; a missing row is added."""
    connection = transaction.connection
    known = ids_of_evaluations(connection, (each.identity for each in wanted))
    new: dict[str, PlannedEvaluation] = {}
    for each in wanted:
        if each.identity not in known:
            new.setdefault(each.identity, each)
    if new:
        texts = {identity: data_text(planned) for identity, planned in new.items()}
        kept = transaction.texts.intern(connection, texts.values())
        rows = [
            evaluation_row(each, kept[texts[identity]], fork_of) for identity, each in new.items()
        ]
        connection.execute(insert_new(EvaluationRow), rows)
    return {**{identity: identity for identity in new}, **known}


def evaluation_row(
    planned: PlannedEvaluation, data: Kept, fork_of: str | None, attempt: int = 0
) -> dict[str, JSON]:
    """A sealed row."""
    identity = planned.identity
    row: dict[str, JSON] = {
        "id": digest(["attempt", identity, attempt]) if attempt else identity,
        "identity": identity,
        "log": planned.log,
        "evaluator": planned.evaluator,
        "judging": planned.judging,
        "fork_of": fork_of,
        "sample": planned.sample,
        "created_at": time.time(),
        "attempt": attempt,
    }
    return _EVALUATIONS.sealed(row, data)


def data_text(planned: PlannedEvaluation) -> str:
    """The data of an evaluation as canonical JSON."""
    data = planned.model_dump()["data"]
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode()


def write_evaluations(transaction: Transaction, planned: Sequence[PlannedEvaluation]) -> None:
    """Add a row for each evaluation before any of its stages is done."""
    add_evaluations(transaction, planned)


def ids_of_evaluations(connection: Connection, identities: Iterable[str]) -> dict[str, str]:
    """The row that counts for each identity in the store."""
    table = table_of(EvaluationRow)
    query = select(table.c.identity, table.c.id).order_by(*_what_counts_last())
    return {
        row.identity: row.id
        for some in chunks(identities)
        for row in connection.execute(query.where(table.c.identity.in_(some)))
    }


def entered(connection: Connection, identity: str, *, is_new: bool) -> Entered | None:
    """The row of an identity, or None."""
    table = table_of(EvaluationRow)
    query = select(table.c.id, table.c.sample).where(table.c.identity == identity)
    rows = connection.execute(query.order_by(*_what_counts_last())).all()
    return Entered(rows[-1].id, rows[-1].sample or 0, is_new) if rows else None


@cache
def _what_counts_last() -> tuple[ColumnElement[object], ...]:
    """An order of `evaluation` in which the row that counts for an identity comes last.

    A row with a finished stage counts before a row without one; among those, the latest attempt,
    and then the row whose stage was finished last, or that was begun last.
    """
    table, stages = table_of(EvaluationRow), table_of(StageRow)
    # In a migrated store, a conversation may have the same id.
    own = (stages.c.unit == table.c.id, stages.c.stage != CONVERSE)
    latest = select(func.max(stages.c.finished_at)).where(*own).scalar_subquery()
    newest = func.max(func.coalesce(latest, 0.0), table.c.created_at)
    order: list[ColumnElement[Any]] = [latest.is_not(None), table.c.attempt, newest]
    return (*order, literal_column("evaluation.rowid"))


def oldest_first() -> tuple[ColumnElement[object], ...]:
    """The order in which evaluations were begun."""
    return (table_of(EvaluationRow).c.created_at, literal_column("evaluation.rowid"))


_EVALUATIONS = SealedTable(
    EvaluationRow,
    "evaluation {id}",
    text="data",
    added_later={"attempt": 0},
    unsealed={"sample", "created_at"},
)
_FIELDS = ("id", "identity", "log", "evaluator", "judging", "fork_of", "attempt")


def read_evaluations(
    connection: Connection, ids: Iterable[str], damaged: Damaged = refuse
) -> dict[str, StoredEvaluation]:
    """Evaluations by id, in the given order; `damaged` is called for those missing or altered."""
    wanted, evaluators = tuple(ids), table_of(EvaluatorRow)
    query = select(evaluators.c.id, evaluators.c.kind)
    kinds = {row.id: row.kind for row in connection.execute(query)}
    about = _conversations(connection, wanted)

    def build(row: AnyRow) -> StoredEvaluation:
        return StoredEvaluation(
            **{name: row._mapping[name] for name in _FIELDS},
            kind=kinds[row.evaluator],
            sample=row.sample or 0,
            conversations=tuple(about.get(row.id, ())),
        )

    return _EVALUATIONS.find(connection, wanted, build, damaged)


def read_data(connection: Connection, evaluation: str) -> dict[str, JSON]:
    """The part of the corpus that can change an evaluation. Raises StoreError if it is damaged."""
    table = table_of(EvaluationRow)
    query = select(table.c.data).where(table.c.id == evaluation)
    number = connection.execute(query).scalar_one()
    data: dict[str, JSON] = orjson.loads(texts_of_ids(connection, [number])[number])
    return data


def check_data(connection: Connection, evaluations: Iterable[str]) -> None:
    """Raise StoreError if the data of one of the evaluations are missing or damaged."""
    table = table_of(EvaluationRow)
    for some in chunks(evaluations):
        query = select(table.c.data).where(table.c.id.in_(some)).distinct()
        texts_of_ids(connection, connection.execute(query).scalars())


def _conversations(connection: Connection, evaluations: Iterable[str]) -> dict[str, list[str]]:
    """The conversations that each evaluation is about, the oldest first."""
    table, logs = table_of(EvaluationRow), table_of(LogRow)
    query = select(table.c.id, logs.c.conversation).join(logs, logs.c.digest == table.c.log)
    found: dict[str, list[str]] = {}
    for some in chunks(evaluations):
        rows = connection.execute(
            query.where(table.c.id.in_(some)).order_by(literal_column("log.rowid"))
        )
        for row in rows:
            found.setdefault(row.id, []).append(row.conversation)
    return found


def find_evaluation(connection: Connection, prefix: str) -> StoredEvaluation:
    """The only evaluation whose id begins with `prefix`. Raises StoreError for none or several."""
    found = one_id(connection, EvaluationRow, prefix, "evaluation")
    return read_evaluations(connection, [found])[found]


def of_campaign(campaign: str) -> Select[tuple[str]]:
    """The ids of a campaign's evaluations: by its evaluators, of its conversations' logs.

    Conversations that were set aside are included.
    """
    return select(table_of(EvaluationRow).c.id).where(by_campaign(campaign))


def by_campaign(campaign: str) -> ColumnElement[bool]:
    """The condition that a row of `evaluation` belongs to the campaign, as in `of_campaign`."""
    table, logs = table_of(EvaluationRow), table_of(LogRow)
    links, evaluators = table_of(CampaignConversationRow), table_of(CampaignEvaluatorRow)
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


def evaluations_of_logs(
    connection: Connection, logs: Iterable[str], wanted: Callable[[str, int], bool]
) -> dict[str, list[LogEvaluation]]:
    """The evaluations that count of each log: one for each evaluator and judging that is `wanted`.

    Raises StoreError if its row was altered.
    """
    table = table_of(EvaluationRow)
    query = select(table).where(table.c.fork_of.is_(None)).order_by(*_what_counts_last())
    found: dict[str, list[LogEvaluation]] = {}
    for some in chunks(logs):
        rows = {
            (row.log, row.evaluator, row.judging): row
            for row in connection.execute(query.where(table.c.log.in_(some)))
            if wanted(row.evaluator, row.judging)
        }
        for row, found_one in _EVALUATIONS.intact(connection, rows.values(), _log_evaluation):
            found.setdefault(row.log, []).append(found_one)
    return found


def _log_evaluation(row: AnyRow) -> LogEvaluation:
    return LogEvaluation(row.id, row.log, row.evaluator, row.judging)
