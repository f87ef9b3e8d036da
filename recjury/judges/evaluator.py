"""`Evaluator`: the interface of all that rates logs, and how answers become ratings."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from recjury.corpora import Part
from recjury.llm import Answer, Ask, Score
from recjury.records import ConversationLog, Finding, Metric, Rating, Status


class Evaluator(Part):
    """Rates logs. A subclass has its settings as fields, `metrics`, and `rate`.

    `name` stands before each metric in tables. With `judgings`, every log is rated so many times.
    """

    judgings: int = Field(default=1, ge=1)

    @property
    def metrics(self) -> Sequence[Metric]:
        """What `rate` returns ratings of."""
        raise NotImplementedError

    @property
    def drawn(self) -> object:
        """What `prepared` drew from the context and can change ratings: part of the identity."""
        return None

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """What is found in a log. What has no score says why; only bugs and `Stop` are raised."""
        raise NotImplementedError


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
