"""What evaluators return: ratings, evidence and debates. A failure is never a number."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Self

from pydantic import model_validator

from recjury.records.base import Record

DEBATE = "debate"
"""The rater of a verdict."""


class Level(StrEnum):
    """What a metric rates: a whole dialogue, or one turn of it."""

    DIALOGUE = "dialogue"
    TURN = "turn"


class Status(StrEnum):
    """Whether there is a score, and if not, why."""

    OK = "ok"
    UNREADABLE = "unreadable"
    CALL_FAILED = "call failed"
    REFUSED = "refused"
    NOT_APPLICABLE = "not applicable"
    SYSTEM_FAILED = "system failed"


UNFINISHED = frozenset({Status.UNREADABLE, Status.CALL_FAILED})
"""The next run asks again for what has one of these statuses."""


class Metric(Record):
    """A criterion's or a computed figure's name, scale and direction.

    `name` is the id within its evaluator ("semantic_relevance"), `title` is for people. Scores lie
    between `low` and `high`; without an upper bound, `high` is None.
    """

    name: str
    title: str = ""
    low: float = 0
    high: float | None = None
    lower_is_better: bool = False
    level: Level = Level.DIALOGUE


class Rating(Record):
    """The score of one metric by one rater for a log or a turn, or the reason why there is none.

    `turn` is the index in the log's interaction. `calls` are all replies, unusable ones too.
    """

    metric: str
    rater: str
    score: float | None = None
    status: Status = Status.OK
    turn: int | None = None
    reason: str = ""
    rationale: str = ""
    calls: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _failure_has_no_score(self) -> Self:
        if (self.score is None) == (self.status is Status.OK):
            raise ValueError(f"status {self.status!r} does not go with score {self.score}")
        return self


class Evidence(Record):
    """Something that a rating rests on, as plain data."""

    name: str
    value: Any = None


class Statement(Record):
    """What one role said in one round of a debate, with its score from 0 to 100."""

    role: str
    round: int
    speaker: str
    text: str = ""
    score: float | None = None
    status: Status = Status.OK
    reason: str = ""
    calls: tuple[str, ...] = ()


class Debate(Record):
    """All statements, in the order of rounds and then of roles, and the verdict."""

    statements: tuple[Statement, ...]
    verdict: Rating

    @property
    def rounds(self) -> int:
        """How many rounds were held."""
        return max((statement.round for statement in self.statements), default=0)

    @property
    def agreed(self) -> bool:
        """Whether the last round ended in agreement."""
        return agree([said for said in self.statements if said.round == self.rounds])


def agree(said: Sequence[Statement]) -> bool:
    """Whether all who were heard give one score (CoRE, 4.2). If a role is missing, they do not."""
    heard = [each for each in said if each.status is not Status.NOT_APPLICABLE]
    return all(each.status is Status.OK for each in heard) and len({s.score for s in heard}) == 1


Finding = Rating | Evidence | Debate
"""What an evaluator returns, any number of each."""


def ratings_of(findings: Sequence[Finding]) -> list[Rating]:
    """All ratings, the verdicts of debates included."""
    return [
        each.verdict if isinstance(each, Debate) else each
        for each in findings
        if not isinstance(each, Evidence)
    ]


def statements_of(findings: Sequence[Finding]) -> list[Statement]:
    """The statements of all debates."""
    return [said for each in findings if isinstance(each, Debate) for said in each.statements]


def unfinished(findings: Sequence[Finding]) -> frozenset[Status]:
    """The statuses for which another run would ask again; empty if nothing is left to ask."""
    ratings = {rating.status for rating in ratings_of(findings)}
    return UNFINISHED & (ratings | {said.status for said in statements_of(findings)})
