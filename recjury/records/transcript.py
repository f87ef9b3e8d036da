"""The result of a debate: statements, the transcript, and the verdict (CoRE, 4.2)."""

from typing import NamedTuple, Self

from pydantic import model_validator

from recjury.records.base import Record, digest
from recjury.records.factor import OVERALL_SCALE, Role
from recjury.records.rating import Status


class Statement(Record):
    """What one role said in one round (1-based), and its willingness to use the system, 0 to 100.

    `speaker` names who played the role: "rule", or a model's alias. Without a score, `status`
    and `reason` say why. `calls` are the model calls behind it, the last one the reply read.
    `repaired` as in `Rating`.
    """

    role: Role
    round: int
    speaker: str
    text: str
    score: float | None
    status: Status = Status.SCORED
    reason: str = ""
    calls: tuple[str, ...] = ()
    repaired: str = ""

    @model_validator(mode="after")
    def _a_failure_is_never_a_score(self) -> Self:
        low, high = OVERALL_SCALE
        if (self.score is None) == (self.status is Status.SCORED):
            raise ValueError(f"status {self.status} does not go with score {self.score}")
        if self.score is not None and not low <= self.score <= high:
            raise ValueError(f"score {self.score} is outside {low} to {high}")
        return self


class DebateTranscript(Record):
    """All statements of a debate over one log, by round and then in the order of `Role`.

    `protocol` identifies the rules and prompts the debate was held under; `judges` names the
    evaluators whose ratings the roles were given, sorted (of several judges, the source judge).
    """

    log: str
    max_rounds: int
    protocol: str
    judges: tuple[str, ...] = ()
    statements: tuple[Statement, ...]

    @property
    def id(self) -> str:
        """The identity of the transcript's content."""
        content = self.model_dump(mode="json")
        for statement in content["statements"]:
            if not statement["repaired"]:  # identities are older than this field
                del statement["repaired"]
        return digest(content)

    @property
    def rounds(self) -> int:
        """How many rounds were held."""
        return max((statement.round for statement in self.statements), default=0)

    def of_round(self, number: int) -> tuple[Statement, ...]:
        """The statements of one round, in the order of `Role`."""
        return tuple(s for s in self.statements if s.round == number)


class Verdict(Record):
    """The debate's outcome: the mean score of its last round, 0-100, over the roles that spoke.

    Unscored if too many roles are missing there, or if none spoke (`recjury.debate.rules`). `spoke`
    counts the roles with a score in the last round; a role without a scored factor abstains.
    """

    score: float | None
    status: Status = Status.SCORED
    reason: str = ""
    spoke: int
    rounds: int
    agreed: bool

    @model_validator(mode="after")
    def _a_failure_is_never_a_score(self) -> Self:
        if (self.score is None) == (self.status is Status.SCORED):
            raise ValueError(f"status {self.status} does not go with score {self.score}")
        return self


class Debate(NamedTuple):
    """The transcript and the verdict of a debate."""

    transcript: DebateTranscript
    verdict: Verdict
