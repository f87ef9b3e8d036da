"""Forks: changed copies of debates, kept beside the evaluations whose debates they change."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recjury.records import JSON, StageResult
from recjury.store.evaluations import PlannedEvaluation, add_evaluations, read_evaluations
from recjury.store.stage_results import DEBATE, FinishedStage, write_stages
from recjury.store.writer import Transaction

FORK = "fork"
"""The stage that stores what was changed."""


class ForkedEvaluation(NamedTuple):
    """A changed copy of a debate.

    `original` is the id of the evaluation that held it, `spec` says what was changed, and
    `identity` is a digest of both.
    """

    identity: str
    original: str
    spec: Mapping[str, JSON]


def write_forks(
    transaction: Transaction, finished: Sequence[tuple[ForkedEvaluation, StageResult]]
) -> None:
    """Store forks with their stages "fork" and "debate"; existing forks are not changed.

    Raises StoreError if the original is missing.
    """
    originals = read_evaluations(transaction.connection, {fork.original for fork, _ in finished})
    for (identity, original, spec), result in finished:
        about = originals[original]
        planned = PlannedEvaluation(
            identity=identity,
            log=about.log,
            evaluator=about.evaluator,
            judging=about.judging,
            data=about.data,
            sample=about.sample,
        )
        add_evaluations(transaction, [planned], original)
        stages = ((FORK, StageResult(output=dict(spec))), (DEBATE, result))
        write_stages(transaction, [FinishedStage(planned, *stage) for stage in stages])
