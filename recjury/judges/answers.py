"""From answers to ratings: several answers as one, the score of a value, and the rating itself."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from recjury.llm import Answer, Score
from recjury.records import Rating, Status

T = TypeVar("T")


def rating_of(metric: str, rater: str, answer: Answer[Score], *, turn: int | None = None) -> Rating:
    """The rating that an answer gives, or the reason why there is none."""
    return Rating(
        metric=metric,
        rater=rater,
        score=answer.value.score if answer.value else None,
        status=answer.status,
        turn=turn,
        reason=answer.reason,
        rationale=answer.value.rationale if answer.value else "",
        calls=answer.calls,
    )


def computed(score: float, rationale: str = "") -> Answer[Score]:
    """A score for which nobody was asked."""
    return Answer(Score(float(score), rationale), Status.OK)


def not_applicable(reason: str) -> Answer[Any]:
    """No value, since nobody can be asked."""
    return Answer(None, Status.NOT_APPLICABLE, reason)


def together(answers: Sequence[Answer[T]]) -> Answer[list[T]]:
    """All values in order; if one is missing, why, a failed call first: it can be made up for."""
    calls = tuple(call for each in answers for call in each.calls)
    lost = [each for each in answers if each.value is None]
    if lost:
        first = min(lost, key=lambda each: each.status is not Status.CALL_FAILED)
        return Answer(None, first.status, first.reason, calls)
    return Answer([each.value for each in answers if each.value is not None], Status.OK, "", calls)


def scored(answer: Answer[T], score: Callable[[T], Score]) -> Answer[Score]:
    """The score of the answer's value; without a value, the same reason."""
    value = None if answer.value is None else score(answer.value)
    return Answer(value, answer.status, answer.reason, answer.calls)
