"""The finished stages of conversations and evaluations (`unit` means either), with seals."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from recjury.records import JSON
from recjury.store.column_types import as_stored
from recjury.store.engine import insert_new
from recjury.store.fetching import fetch
from recjury.store.sealed import AnyRow, Damaged, SealedTable, changed, refuse, seal
from recjury.store.summaries import LogSummary, StageScores, write_summary
from recjury.store.tables import StageRow, table_of
from recjury.store.texts import chunks
from recjury.store.writer import Transaction

CONVERSE = "converse"
"""The only stage of a conversation; no evaluator can have a stage with this name."""

_STAGES = table_of(StageRow).c
_FINISHED = select(_STAGES.unit, _STAGES.stage)

Records = Iterable[tuple[Any, Mapping[str, JSON]]]
"""Records of a table, each with the values of its keys."""


def finish_stage(
    transaction: Transaction,
    unit: str,
    stage: str,
    records: Iterable[tuple[SealedTable[Any], Records]],
    summary: LogSummary | StageScores,
) -> None:
    """Write the rows of a stage and mark it as finished; nothing is written if it already was.

    `summary` is what tables add up.
    """
    written = [(table, table.rows(transaction, some)) for table, some in records]
    seals: list[JSON] = [row["seal"] for _, rows in written for row in rows]
    now = time.time()
    own = seal([unit, stage, now, *seals])
    row = {"unit": unit, "stage": stage, "finished_at": now, "seal": own}
    connection = transaction.connection
    added = insert_new(table_of(StageRow)).values(row).execution_options(preserve_rowcount=True)
    if connection.execute(added).rowcount == 1:
        for table, rows in written:
            if rows:
                connection.execute(insert_new(table.table), rows)
        write_summary(transaction, unit, stage, summary, own)


def read_stages(connection: Connection, units: Iterable[str]) -> dict[str, set[str]]:
    """The finished stages of each of `units` that has any."""
    done: dict[str, set[str]] = {}
    for unit, stage in fetch(connection, _FINISHED, _STAGES.unit, units):
        done.setdefault(unit, set()).add(stage)
    return done


def check_stages(
    connection: Connection,
    found: Mapping[str, Mapping[str, Sequence[str]]],
    damaged: Damaged = refuse,
) -> None:
    """Compare the seals of the rows found, by unit and stage, with those of finished stages.

    `damaged` is called for each stage that has lost or gained rows.
    """
    stages = table_of(StageRow)
    query = select(*as_stored(stages))
    finished = {
        (row.unit, row.stage): row
        for some in chunks(found)
        for row in connection.execute(query.where(stages.c.unit.in_(some)))
    }
    own = {(unit, stage): seals for unit, some in found.items() for stage, seals in some.items()}
    for unit, stage in dict.fromkeys((*own, *finished)):
        row = finished.get((unit, stage))
        # A stage without rows also has a seal.
        seals = own.get((unit, stage), ())
        if row is None or not _is_sealed(row, seals):
            damaged(changed(f"stage {stage} of {unit}"))


def _is_sealed(row: AnyRow, seals: Sequence[str]) -> bool:
    try:
        return bool(row.seal == seal([row.unit, row.stage, row.finished_at, *seals]))
    except TypeError:  # an altered row may hold any value
        return False
