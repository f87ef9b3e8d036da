"""Make the summaries of a store again, from its rows."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Column, Connection, select

from recjury.store.evaluations import EVALUATIONS
from recjury.store.logs import LOGS, read_logs
from recjury.store.stage_results import read_stage_results
from recjury.store.stages import CONVERSE
from recjury.store.summaries import (
    SUMMARIES,
    LogSummary,
    StageScores,
    scores_of_stage,
    summary_of_log,
    write_summary,
)
from recjury.store.tables import StageRow, table_of
from recjury.store.writer import Transaction

_PAGE = 500

KEYS: tuple[Column[str], ...] = (LOGS.c.conversation, EVALUATIONS.c.id)
"""The units whose stages have summaries."""


class Remade(NamedTuple):
    """How many summaries there are, and how many of these were missing or not the same."""

    summaries: int = 0
    missing: int = 0
    changed: int = 0

    def plus(self, other: "Remade") -> "Remade":
        """Both together."""
        return Remade(*map(sum, zip(self, other, strict=True)))


def remake_page(transaction: Transaction, key: Column[str], last: str) -> tuple[str, Remade] | None:
    """Make the summaries of the next units after `last`: the last of these; None without any.

    Raises StoreError for an altered row.
    """
    connection = transaction.connection
    query = select(key).where(key > last).order_by(key).limit(_PAGE)
    units = connection.execute(query).scalars().all()
    if not units:
        return None
    before = _there(connection, units)
    connection.execute(SUMMARIES.table.delete().where(SUMMARIES.c.unit.in_(units)))
    stages = table_of(StageRow)
    seals = {
        (row.unit, row.stage): row.seal
        for row in connection.execute(select(stages).where(stages.c.unit.in_(units)))
    }
    of = _of_logs if key is LOGS.c.conversation else _of_evaluations
    for unit, stage, summary in of(connection, units):
        write_summary(transaction, unit, stage, summary, seals[unit, stage])
    after = _there(connection, units)
    missing = sum(each not in before for each in after)
    other = sum(before.get(each, seal) != seal for each, seal in after.items())
    return units[-1], Remade(len(after), missing, other + len(before.keys() - after.keys()))


def _there(
    connection: Connection, units: Sequence[str]
) -> dict[tuple[str, str], tuple[object, ...]]:
    """The summaries of units, as they are in the store."""
    rows = connection.execute(SUMMARIES.select().where(SUMMARIES.c.unit.in_(units)))
    return {(row.unit, row.stage): tuple(row) for row in rows}


def _of_logs(
    connection: Connection, conversations: Sequence[str]
) -> Iterator[tuple[str, str, LogSummary]]:
    for each, stored in read_logs(connection, conversations).items():
        yield each, CONVERSE, summary_of_log(stored.digest, stored.body)


def _of_evaluations(
    connection: Connection, evaluations: Sequence[str]
) -> Iterator[tuple[str, str, StageScores]]:
    for each, results in read_stage_results(connection, evaluations).items():
        for stage, result in results.items():
            yield each, stage, scores_of_stage(result)
