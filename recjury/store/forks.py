"""Forks: changed copies of debates, kept beside the evaluations whose debates they change."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import select

from recjury.errors import StoreError
from recjury.records import JSON, StageResult
from recjury.store.evaluation_tables import EvaluationRow
from recjury.store.evaluations import PlannedEvaluation, add_evaluations, read_data
from recjury.store.stage_results import DEBATE, FinishedStage, write_stages
from recjury.store.tables import table_of
from recjury.store.writer import Transaction

FORK = "fork"
"""The stage that stores what was changed."""


class ForkedEvaluation(NamedTuple):
    """A changed copy of a debate.

    `original` is the id of the evaluation that held it, `spec` says what was changed, and
    `identity` is a digest of both. In a migrated store, evaluations of one identity may have held
    different debates: only one of them can have a fork of this identity.
    """

    identity: str
    original: str
    spec: Mapping[str, JSON]


def write_forks(
    transaction: Transaction, finished: Sequence[tuple[ForkedEvaluation, StageResult]]
) -> None:
    """Store forks with their stages "fork" and "debate"; existing forks are not changed.

    Raises StoreError if the original is missing, or if the identity belongs to another row.
    """
    connection, evaluations = transaction.connection, table_of(EvaluationRow)
    for (identity, original, spec), result in finished:
        row = connection.execute(select(evaluations).where(evaluations.c.id == original)).first()
        if row is None:
            raise StoreError(f"evaluation {original} is not in the store")
        planned = PlannedEvaluation(
            identity=identity,
            log=row.log,
            evaluator=row.evaluator,
            judging=row.judging,
            data=read_data(connection, original),
            sample=row.sample or 0,
        )
        own = add_evaluations(transaction, [planned], original)[identity]
        of = select(evaluations.c.fork_of).where(evaluations.c.id == own)
        if (other := connection.execute(of).scalar_one()) != original:
            raise StoreError(f"{identity} is a fork of evaluation {other}, not of {original}")
        stages = ((FORK, StageResult(kept=dict(spec))), (DEBATE, result))
        write_stages(transaction, [FinishedStage(planned, *stage) for stage in stages])
