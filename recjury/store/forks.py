"""Forks: changed copies of debates, kept beside the evaluations whose debates they change."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import select

from recjury.errors import StoreError
from recjury.records import JSON, StageResult
from recjury.store.evaluation_tables import EvaluationRow
from recjury.store.evaluations import PlannedEvaluation, read_data
from recjury.store.stage_results import DEBATE, FinishedStage, write_stages
from recjury.store.tables import table_of
from recjury.store.writer import Transaction

FORK = "fork"
"""The stage that keeps what was changed."""


class ForkedEvaluation(NamedTuple):
    """A changed copy of a debate: `original` is the id of the evaluation that held it, `spec` says
    what was changed, `identity` is a digest of both."""

    identity: str
    original: str
    spec: Mapping[str, JSON]


class FinishedFork(NamedTuple):
    """A fork, and what came of its debate."""

    fork: ForkedEvaluation
    result: StageResult


def write_forks(transaction: Transaction, finished: Sequence[FinishedFork]) -> None:
    """Keep forks, with the stages "fork" and "debate"; one that is there already stays."""
    evaluations = table_of(EvaluationRow)
    for (identity, original, spec), result in finished:
        query = select(evaluations).where(evaluations.c.id == original)
        row = transaction.connection.execute(query).first()
        if row is None:
            raise StoreError(f"evaluation {original} is not in the store")
        planned = PlannedEvaluation(
            identity=identity,
            log=row.log,
            evaluator=row.evaluator,
            judging=row.judging,
            data=read_data(transaction.connection, original),
        )
        changed = StageResult(kept=dict(spec))
        stages = ((FORK, changed), (DEBATE, result))
        write_stages(
            transaction,
            [FinishedStage(planned, stage, given, original) for stage, given in stages],
        )
