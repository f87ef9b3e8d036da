"""Ratings, in the order in which they were given."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection, Row, select

from recjury.errors import StoreError
from recjury.records import JSON, Level, Rating, Status
from recjury.store.evaluation_tables import RatingRow
from recjury.store.tables import table_of
from recjury.store.texts import (
    Damaged,
    chunks,
    read_string_list,
    refuse,
    sealed_repair,
    string_list,
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
        }
        rows.append({**row, **sealed_repair(list(row.values()), rating.repaired or None)})
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
    ratings = table_of(RatingRow)
    found: dict[str, list[StoredRating]] = {}
    for some in chunks(evaluations):
        query = select(ratings).where(ratings.c.evaluation.in_(some))
        order = (ratings.c.evaluation, ratings.c.stage, ratings.c.position)
        for row in connection.execute(query.order_by(*order)):
            try:
                found.setdefault(row.evaluation, []).append(_stored(row))
            except StoreError as error:
                damaged(error)
    return {evaluation: tuple(some) for evaluation, some in found.items()}


def seals_by_stage(stored: Iterable[StoredRating]) -> dict[str, list[str]]:
    """The seals of ratings, in order, by the stage they came from."""
    seals: dict[str, list[str]] = {}
    for each in stored:
        seals.setdefault(each.stage, []).append(each.seal)
    return seals


def _stored(row: Row[tuple[object, ...]]) -> StoredRating:
    values = row._mapping
    sealed = [values[name] for name in values if name not in {"id", "seal", "repaired"}]
    try:
        if sealed_repair(sealed, row.repaired)["seal"] == row.seal:
            return StoredRating(row.stage, _rating(row), row.seal)
    except (TypeError, ValueError):  # a damaged row may hold any value
        pass
    raise StoreError(
        f"the rating of {row.factor} of evaluation {row.evaluation} in the store was changed "
        "after it was written"
    )


def _rating(row: Row[tuple[object, ...]]) -> Rating:
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
