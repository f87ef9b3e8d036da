"""Ratings, in the order in which they were given."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection

from recjury.records import JSON, Level, Rating, Status
from recjury.store.evaluation_tables import RatingRow
from recjury.store.sealed import AnyRow, Damaged, SealedTable, refuse
from recjury.store.texts import read_string_list, string_list

_RATINGS = SealedTable(
    RatingRow,
    "the rating of {factor} of evaluation {evaluation}",
    order=("evaluation", "stage", "position"),
    added_later={"repaired": None},
    unsealed={"id"},
)


def rating_rows(evaluation: str, stage: str, ratings: Iterable[Rating]) -> list[dict[str, JSON]]:
    """Rows of `rating`, sealed."""
    rows: list[dict[str, JSON]] = []
    for position, rating in enumerate(ratings):
        row: dict[str, JSON] = {
            "evaluation": evaluation,
            "stage": stage,
            "position": position,
            "evaluator": rating.evaluator,
            "factor": rating.factor,
            "score": None if rating.score is None else float(rating.score),
            "status": rating.status.value,
            "reason": rating.reason,
            "rationale": rating.rationale,
            "level": rating.level.value,
            "turn": rating.turn,
            "low": float(rating.low),
            "high": None if rating.high is None else float(rating.high),
            "rubric": rating.rubric,
            "calls": string_list(rating.calls),
            "repaired": rating.repaired or None,
        }
        rows.append(_RATINGS.sealed(row))
    return rows


class StoredRating(NamedTuple):
    """A rating, the stage it came from, and its row's seal."""

    stage: str
    rating: Rating
    seal: str


def read_ratings(
    connection: Connection, evaluations: Iterable[str], damaged: Damaged = refuse
) -> dict[str, tuple[StoredRating, ...]]:
    """Ratings by evaluation, in the order of stages and positions.

    `damaged` is called for each altered rating.
    """
    found: dict[str, list[StoredRating]] = {}
    for row, rating in _RATINGS.read(connection, "evaluation", evaluations, _rating, damaged):
        found.setdefault(row.evaluation, []).append(StoredRating(row.stage, rating, row.seal))
    return {evaluation: tuple(some) for evaluation, some in found.items()}


def seals_by_stage(stored: Iterable[StoredRating]) -> dict[str, list[str]]:
    """The seals of ratings, in order, by the stage they came from."""
    seals: dict[str, list[str]] = {}
    for each in stored:
        seals.setdefault(each.stage, []).append(each.seal)
    return seals


def _rating(row: AnyRow) -> Rating:
    return Rating(
        evaluator=row.evaluator,
        factor=row.factor,
        score=row.score,
        status=Status(row.status),
        reason=row.reason,
        rationale=row.rationale,
        level=Level(row.level),
        turn=row.turn,
        low=row.low,
        high=row.high,
        rubric=row.rubric,
        calls=read_string_list(row.calls),
        repaired=row.repaired or "",
    )
