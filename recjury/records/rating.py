"""Ratings: a score on a scale, or a status that says why there is none."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf, isfinite
from typing import Self

from pydantic import model_validator

from recjury.records.base import Record
from recjury.records.factor import FACTOR_SCALE, PERSUASIVENESS, PERSUASIVENESS_SCALE


class Status(StrEnum):
    """Whether there is a score, and if not, why."""

    SCORED = "scored"
    UNREADABLE = "unreadable"  # asked several times, and no reply could be parsed
    CALL_FAILED = "call_failed"  # the model call failed after its retries
    REFUSED = "refused"  # the endpoint refuses this call for good (content filter, too long)
    NOT_APPLICABLE = "not_applicable"  # the log lacks what the rubric needs (a list, a target)
    NOT_MEASURED = "not_measured"  # this evaluator cannot compute it
    ABSTAINED = "abstained"  # a role without any scored factor


FAILED = frozenset({Status.UNREADABLE, Status.CALL_FAILED, Status.REFUSED})
"""The statuses of ratings that should have a score."""


class Level(StrEnum):
    """What a rating is about."""

    DIALOGUE = "dialogue"
    TURN = "turn"


class Rating(Record):
    """One evaluator's score of one factor or aspect of one log.

    `evaluator` is the name of the rater: "measured", or a model's alias. `factor` is a `Factor`'s
    value, "Persuasiveness", or another evaluator's aspect. `low` and `high` bound `score`, both
    included; `high` is None if there is no upper bound. `rationale` is the evaluator's reason;
    `reason` says why there is no score. `rubric` identifies the rubric's version; `calls` are the
    model calls behind the rating. `turn` is the index in the interaction, for turn-level ratings.
    `repaired` says what had to be repaired in the reply before it could be read; it is empty if
    nothing had to be.
    """

    evaluator: str
    factor: str
    score: float | None
    status: Status = Status.SCORED
    reason: str = ""
    rationale: str = ""
    level: Level = Level.DIALOGUE
    turn: int | None = None
    low: float = FACTOR_SCALE[0]
    high: float | None = FACTOR_SCALE[1]
    rubric: str = ""
    calls: tuple[str, ...] = ()
    repaired: str = ""

    @model_validator(mode="after")
    def _a_failure_is_never_a_score(self) -> Self:
        if (self.score is None) == (self.status is Status.SCORED):
            raise ValueError(f"status {self.status} does not go with score {self.score}")
        if self.score is None:
            return self
        high = inf if self.high is None else self.high
        if not isfinite(self.score) or not self.low <= self.score <= high:
            upper = "" if self.high is None else f" to {self.high:g}"
            raise ValueError(
                f"score must be a finite number from {self.low:g}{upper}, got {self.score:g}"
            )
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSubject:
    """What a rating is about, before there is one; the fields are those of `Rating`."""

    evaluator: str
    factor: str
    low: float = FACTOR_SCALE[0]
    high: float | None = FACTOR_SCALE[1]
    rubric: str = ""
    turn: int | None = None

    def scored(
        self,
        score: float,
        rationale: str = "",
        *,
        calls: tuple[str, ...] = (),
        repaired: str = "",
    ) -> Rating:
        """The rating with this score. Raises ValueError for one outside the scale."""
        return self._rating(score, rationale=rationale, calls=calls, repaired=repaired)

    def unscored(self, status: Status, reason: str, *, calls: tuple[str, ...] = ()) -> Rating:
        """The rating without a score, and why."""
        return self._rating(None, status=status, reason=reason, calls=calls)

    def _rating(self, score: float | None, **more: object) -> Rating:
        return Rating.model_validate(
            {
                "evaluator": self.evaluator,
                "factor": self.factor,
                "score": score,
                "level": Level.DIALOGUE if self.turn is None else Level.TURN,
                "turn": self.turn,
                "low": self.low,
                "high": self.high,
                "rubric": self.rubric,
                **more,
            }
        )


def persuasiveness_subject(evaluator: str, rubric: str = "") -> RatingSubject:
    """How persuasive a system was (CoRE 6.4), as rated by `evaluator`."""
    low, high = PERSUASIVENESS_SCALE
    return RatingSubject(
        evaluator=evaluator, factor=PERSUASIVENESS, low=low, high=high, rubric=rubric
    )
