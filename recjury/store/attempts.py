"""Attempts at evaluations: done again because ratings were missing, beside the earlier ones."""

from collections.abc import Iterable

from sqlalchemy import Connection, func, select

from recjury.records import Status
from recjury.store.engine import insert_new
from recjury.store.evaluation_tables import EvaluationRow, FaceTurnRow, RatingRow
from recjury.store.evaluations import (
    PlannedEvaluation,
    data_text,
    evaluation_row,
    oldest_first,
)
from recjury.store.tables import table_of
from recjury.store.texts import chunks
from recjury.store.writer import Transaction


def add_attempt(transaction: Transaction, planned: PlannedEvaluation) -> str:
    """Add a row for another attempt at an evaluation that the store has, and return its id."""
    connection, table = transaction.connection, table_of(EvaluationRow)
    query = select(func.max(table.c.attempt)).where(table.c.identity == planned.identity)
    attempt = (connection.execute(query).scalar_one() or 0) + 1
    text = data_text(planned)
    place = transaction.texts.intern(connection, [text])[text]
    row = evaluation_row(planned, place, None, attempt)
    connection.execute(insert_new(EvaluationRow), [row])
    return str(row["id"])


def attempts_of(connection: Connection, evaluation: str) -> tuple[str, ...]:
    """All attempts at the evaluation that `evaluation` is one of, the oldest first."""
    table = table_of(EvaluationRow)
    own = select(table.c.identity).where(table.c.id == evaluation).scalar_subquery()
    query = select(table.c.id).where(table.c.identity == own)
    return tuple(connection.execute(query.order_by(table.c.attempt, *oldest_first())).scalars())


def with_statuses(
    connection: Connection, evaluations: Iterable[str], statuses: Iterable[Status]
) -> set[str]:
    """Those of `evaluations` in which a rating, or the particles of a turn, have such a status."""
    wanted = tuple(status.value for status in statuses)
    found: set[str] = set()
    for some in chunks(evaluations):
        for rows in (table_of(RatingRow), table_of(FaceTurnRow)):
            query = select(rows.c.evaluation).where(rows.c.status.in_(wanted))
            found.update(connection.execute(query.where(rows.c.evaluation.in_(some))).scalars())
    return found
