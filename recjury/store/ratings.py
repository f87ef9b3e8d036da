"""Ratings, in the order they were given."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Row, select

from recjury.errors import StoreError
from recjury.records import JSON, Level, Rating, Status
from recjury.store.engine import insert_new
from recjury.store.stages import holds_particles
from recjury.store.tables import RatingRow, table_of
from recjury.store.texts import Damaged, read_string_list, refuse, seal, string_list
from recjury.store.trials import finish_stage
from recjury.store.writer import Transaction


class FinishedRatings(NamedTuple):
    """The ratings that one stage gave a trial's log."""

    trial: str
    ratings: tuple[Rating, ...]
    stage: str = "rate"


def write_ratings(transaction: Transaction, finished: Sequence[FinishedRatings]) -> None:
    """Keep ratings and finish their stage; a stage that is finished keeps its ratings."""
    for trial, ratings, stage in finished:
        rows = rating_rows(trial, stage, ratings)
        if finish_stage(transaction, trial, stage, [str(row["seal"]) for row in rows]):
            write_rows(transaction, rows)


def rating_rows(trial: str, stage: str, ratings: Iterable[Rating]) -> list[dict[str, JSON]]:
    """Rows of `rating`, sealed."""
    rows: list[dict[str, JSON]] = []
    for position, rating in enumerate(ratings):
        row: dict[str, JSON] = {
            "trial": trial,
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
            "high": float(rating.high),
            "rubric": rating.rubric,
            "calls": string_list(rating.calls),
        }
        rows.append({**row, "seal": seal(list(row.values()))})
    return rows


def write_rows(transaction: Transaction, rows: Sequence[dict[str, JSON]]) -> None:
    """Insert rows of `rating`, if any."""
    if rows:
        transaction.connection.execute(insert_new(RatingRow), rows)


class StoredRating(NamedTuple):
    """A rating, the stage it came from, and its row's seal."""

    stage: str
    rating: Rating
    seal: str


def read_ratings(
    connection: Connection, trials: Iterable[str], damaged: Damaged = refuse
) -> dict[str, tuple[StoredRating, ...]]:
    """Per trial that has any, its ratings by stage and order; `damaged` hears of altered ones."""
    ratings = table_of(RatingRow)
    query = select(ratings).where(ratings.c.trial.in_(tuple(trials)))
    found: dict[str, list[StoredRating]] = {}
    for row in connection.execute(
        query.order_by(ratings.c.trial, ratings.c.stage, ratings.c.position)
    ):
        try:
            found.setdefault(row.trial, []).append(_stored(row))
        except StoreError as error:
            damaged(error)
    return {trial: tuple(some) for trial, some in found.items()}


def seals_by_stage(stored: Iterable[StoredRating]) -> dict[str, list[str]]:
    """The seals of ratings, in order, by the stage they came from."""
    seals: dict[str, list[str]] = {}
    for each in stored:
        seals.setdefault(each.stage, []).append(each.seal)
    return seals


def is_rating_stage(stage: str) -> bool:
    """Whether a stage holds ratings and nothing else."""
    return stage not in {"converse", "debate"} and not holds_particles(stage)


def _stored(row: Row[tuple[object, ...]]) -> StoredRating:
    values = row._mapping
    sealed = [values[name] for name in values if name not in {"id", "seal"}]
    try:
        if seal(sealed) == row.seal:
            return StoredRating(row.stage, _rating(row), row.seal)
    except (TypeError, ValueError):  # what a damaged row can be read as
        pass
    raise StoreError(
        f"the rating of {row.factor} of trial {row.trial} in the store is not as it was written"
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
    )
