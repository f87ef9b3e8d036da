"""The finished stages of conversations and evaluations (`unit` means either), with seals."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlalchemy import Connection, select

from recjury.store.engine import insert_new
from recjury.store.sealed import Damaged, changed, refuse, seal
from recjury.store.tables import StageRow, table_of
from recjury.store.texts import chunks
from recjury.store.writer import Transaction

CONVERSE = "converse"
"""The only stage of a conversation; no evaluator can have a stage with this name."""


def is_conversation(stage: str) -> bool:
    """Whether a stage is that of a conversation."""
    return stage == CONVERSE


def is_evaluation(stage: str) -> bool:
    """Whether a stage is one of an evaluation."""
    return stage != CONVERSE


def finish_stage(transaction: Transaction, unit: str, stage: str, seals: Sequence[str]) -> bool:
    """Mark a stage as finished; return False if it already was."""
    row = {"unit": unit, "stage": stage, "finished_at": time.time(), "seal": seal(list(seals))}
    return transaction.connection.execute(insert_new(table_of(StageRow)).values(row)).rowcount == 1


def read_stages(connection: Connection, units: Iterable[str]) -> dict[str, set[str]]:
    """The finished stages of each of `units` that has any."""
    stages = table_of(StageRow)
    done: dict[str, set[str]] = {}
    for some in chunks(units):
        query = select(stages.c.unit, stages.c.stage).where(stages.c.unit.in_(some))
        for unit, stage in connection.execute(query):
            done.setdefault(unit, set()).add(str(stage))  # an edited row may hold any value
    return done


def check_stages(
    connection: Connection,
    found: Mapping[str, Mapping[str, Sequence[str]]],
    damaged: Damaged = refuse,
    *,
    concerned: Callable[[str], bool],
) -> None:
    """Compare the seals of the rows found, by unit and stage, with those of finished stages.

    `damaged` is called for each stage that has lost or gained rows; stages whose name is not
    `concerned` are ignored.
    """
    stages = table_of(StageRow)
    query = select(stages.c.unit, stages.c.stage, stages.c.seal)
    sealed = {
        (row.unit, row.stage): row.seal
        for some in chunks(found)
        for row in connection.execute(query.where(stages.c.unit.in_(some)))
    }
    resealed = {
        (unit, stage): seal(list(seals))
        for unit, by_stage in found.items()
        for stage, seals in by_stage.items()
    }
    for unit, stage in dict.fromkeys((*resealed, *sealed)):
        # A stage without rows also has a seal.
        fits = resealed.get((unit, stage), seal([])) == sealed.get((unit, stage))
        if concerned(stage) and not fits:
            damaged(changed(f"stage {stage} of {unit}"))
