"""The result of a finished stage of an evaluation, written in one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, assert_never

import orjson
from sqlmodel import SQLModel

from recjury.errors import UnitFailed
from recjury.records import (
    JSON,
    AspectScores,
    Debate,
    Decomposition,
    StageResult,
)
from recjury.store.attempts import add_attempt
from recjury.store.debates import debate_row, statement_rows
from recjury.store.engine import insert_new
from recjury.store.evaluation_tables import (
    DebateRow,
    FaceScoreRow,
    FaceTurnRow,
    KeptRow,
    RatingRow,
    StatementRow,
)
from recjury.store.evaluations import PlannedEvaluation, add_evaluations
from recjury.store.face import PARTICLES, score_rows, turn_rows
from recjury.store.kept import kept_row
from recjury.store.ratings import rating_rows
from recjury.store.stages import CONVERSE, finish_stage
from recjury.store.writer import Transaction

DEBATE = "debate"


class FinishedStage(NamedTuple):
    """A stage and its result."""

    planned: PlannedEvaluation
    stage: str
    result: StageResult


class RepeatedEvaluation(NamedTuple):
    """Another attempt at an evaluation: the result of each stage, also of those not done again."""

    planned: PlannedEvaluation
    results: Mapping[str, StageResult]


class _Rows(NamedTuple):
    table: type[SQLModel]
    rows: list[dict[str, JSON]]


def check_stage(stage: str, result: StageResult) -> None:
    """Raise UnitFailed for a result that cannot be stored; a plugin may return such a result.

    Only the stage "debate" can store a debate, only the stage "particles" can store particles, and
    only the stage of an aspect can store that aspect's scores.
    """
    if stage == CONVERSE:
        raise UnitFailed(f"no stage of an evaluator can be called {CONVERSE!r}: rename it")
    match result.kept:
        case Debate():
            own = DEBATE
        case Decomposition():
            own = PARTICLES
        case AspectScores():
            own = result.kept.aspect.value
        case _:
            _check_json(result.kept)
            return
    if stage != own:
        raise UnitFailed(f"{type(result.kept).__name__} can be stored only by the stage {own!r}")


def _check_json(kept: object) -> None:
    try:
        orjson.dumps(kept)
    except TypeError as error:
        raise UnitFailed(f"what a stage stores must be plain JSON: {error}") from None


def write_stages(transaction: Transaction, finished: Sequence[FinishedStage]) -> None:
    """Store results of stages and mark them as finished; finished stages are not overwritten."""
    ids = add_evaluations(transaction, [each.planned for each in finished])
    for planned, stage, result in finished:
        _write(transaction, ids[planned.identity], stage, result)


def write_repeated(transaction: Transaction, repeated: Sequence[RepeatedEvaluation]) -> None:
    """Store attempts at evaluations, each with all its stages; earlier attempts stay."""
    for planned, results in repeated:
        evaluation = add_attempt(transaction, planned)
        for stage, result in results.items():
            _write(transaction, evaluation, stage, result)


def _write(transaction: Transaction, evaluation: str, stage: str, result: StageResult) -> None:
    written = _rows(transaction, evaluation, stage, result)
    if finish_stage(transaction, evaluation, stage, list(_seals(written))):
        for table, rows in written:
            if rows:
                transaction.connection.execute(insert_new(table), rows)


def _rows(
    transaction: Transaction, evaluation: str, stage: str, result: StageResult
) -> list[_Rows]:
    """All rows of a stage: its other results, then its ratings. The stage's seal has this order."""
    ratings = _Rows(RatingRow, rating_rows(evaluation, stage, result.ratings))
    kept = result.kept
    match kept:
        case None:
            return [ratings]
        case Debate():
            statements = statement_rows(evaluation, kept.transcript)
            held = _Rows(DebateRow, [debate_row(evaluation, kept)])
            return [held, _Rows(StatementRow, statements), ratings]
        case Decomposition():
            return [_Rows(FaceTurnRow, turn_rows(evaluation, kept)), ratings]
        case AspectScores():
            return [_Rows(FaceScoreRow, score_rows(transaction, evaluation, kept)), ratings]
        case dict():
            return [_Rows(KeptRow, [kept_row(transaction, evaluation, stage, kept)]), ratings]
        case _:
            assert_never(kept)


def _seals(written: Iterable[_Rows]) -> Iterable[str]:
    return (str(row["seal"]) for rows in written for row in rows.rows)
