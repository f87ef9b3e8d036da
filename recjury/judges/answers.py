"""From answers to ratings."""

from typing import Any

from recjury.llm import Answer, Score
from recjury.records import Rating, Status


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
