"""Make the summaries of a store again, from its rows."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Engine, select

from recjury.store.engine import for_writing
from recjury.store.evaluations import EVALUATIONS
from recjury.store.logs import LOGS, read_logs
from recjury.store.stage_results import read_stage_results
from recjury.store.stages import CONVERSE
from recjury.store.summaries import (
    SUMMARIES,
    body_of_stage,
    summary_of_log,
    write_summary,
)
from recjury.store.tables import StageRow, table_of

_PAGE = 500


class Remade(NamedTuple):
    """How many summaries there are, and how many of these were missing or not the same."""

    summaries: int = 0
    missing: int = 0
    changed: int = 0


def remake_summaries(engine: Engine) -> Remade:
    """Make all summaries again, page by page. Raises StoreError for an altered row."""
    SUMMARIES.create(engine, checkfirst=True)
    total = Remade()
    for column, of_units in ((LOGS.c.conversation, _of_logs), (EVALUATIONS.c.id, _of_evaluations)):
        last = ""
        while True:
            with engine.connect() as connection, for_writing(connection).begin():
                query = select(column).where(column > last).order_by(column).limit(_PAGE)
                units = connection.execute(query).scalars().all()
                if not units:
                    break
                own = _remade(connection, of_units(connection, units))
                total = Remade(*map(sum, zip(total, own, strict=True)))
                last = units[-1]
    return total


_Bodies = Mapping[str, Mapping[str, object]]


def _of_logs(connection: Connection, conversations: Sequence[str]) -> _Bodies:
    return {
        each: {CONVERSE: list(summary_of_log(stored.digest, stored.body))}
        for each, stored in read_logs(connection, conversations).items()
    }


def _of_evaluations(connection: Connection, evaluations: Sequence[str]) -> _Bodies:
    return {
        each: {stage: body_of_stage(result) for stage, result in results.items()}
        for each, results in read_stage_results(connection, evaluations).items()
    }


def _remade(connection: Connection, bodies: _Bodies) -> Remade:
    stages, own = table_of(StageRow), SUMMARIES.c
    seals = {
        (row.unit, row.stage): row.seal
        for row in connection.execute(select(stages).where(stages.c.unit.in_(bodies)))
    }
    before = {
        (row.unit, row.stage): (row.body, row.seal)
        for row in connection.execute(select(SUMMARIES).where(own.unit.in_(bodies)))
    }
    connection.execute(SUMMARIES.delete().where(own.unit.in_(bodies)))
    for unit, by_stage in bodies.items():
        for stage, body in by_stage.items():
            write_summary(connection, unit, stage, body, seals[unit, stage])
    query = select(SUMMARIES).where(own.unit.in_(bodies))
    after = {(row.unit, row.stage): (row.body, row.seal) for row in connection.execute(query)}
    missing = sum(each not in before for each in after)
    other = sum(before.get(each, value) != value for each, value in after.items())
    return Remade(len(after), missing, other + len(before.keys() - after.keys()))
