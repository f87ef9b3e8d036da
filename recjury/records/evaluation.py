"""Evaluations: the input of an evaluator, its stages and their results, a debate's among them."""

from collections.abc import Mapping
from typing import NamedTuple, Self

from pydantic import model_validator

from recjury.records.base import JSON, Record, digest
from recjury.records.conversation import ConversationLog
from recjury.records.factor import OVERALL_SCALE, Role
from recjury.records.rating import Rating, Status


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


class Stage(Record):
    """A part of an evaluation whose result is stored separately.

    It runs when the stages named in `after` are done, and gets their results.
    """

    name: str
    after: tuple[str, ...] = ()


class ConversationRecord(NamedTuple):
    """A log, with extra data; this extra data is not part of the log's identity.

    `seconds` and `costs` (US dollars) are by system turn, in order. A value is None if it is not
    known; both are empty for conversations that were recorded elsewhere.
    """

    log: ConversationLog
    seconds: tuple[float | None, ...] = ()
    costs: tuple[float | None, ...] = ()


class Evidence(Record):
    """What in a log a rating rests on, as its evaluator says.

    `factor` is that of the rating; `turn` is an index of the interaction, None for all of it;
    `span_start` and `span_end` bound the part of the turn's text that is meant (characters,
    the end is excluded), None for all of it. `label` says what it is (a dialogue act, a kind of
    error), `note` what follows from it.
    """

    factor: str
    label: str
    note: str = ""
    turn: int | None = None
    span_start: int | None = None
    span_end: int | None = None

    @model_validator(mode="after")
    def _a_span_lies_in_a_turn(self) -> Self:
        if self.span_start is None and self.span_end is None:
            return self
        if self.turn is None or self.span_start is None or self.span_end is None:
            raise ValueError("a span has a turn, a start and an end")
        if not 0 <= self.span_start <= self.span_end:
            raise ValueError(f"a span cannot lie at {self.span_start} to {self.span_end}")
        return self

    @property
    def span(self) -> tuple[int, int] | None:
        """The part of the turn's text, as a start and an end."""
        if self.span_start is None or self.span_end is None:
            return None
        return (self.span_start, self.span_end)


class StageResult(NamedTuple):
    """The result of a stage: ratings, and what else is stored of it.

    `evidence` says what the ratings rest on. `output` is a JSON object that later stages of the
    same evaluator read; `lost` has the status of each part of it that could not be had, and that a
    later run asks for again. `debate` is for evaluators that hold one.
    """

    ratings: tuple[Rating, ...] = ()
    output: Mapping[str, JSON] | None = None
    evidence: tuple[Evidence, ...] = ()
    lost: tuple[Status, ...] = ()
    debate: Debate | None = None


# Part of the identities below: increase it when evaluators compute something else.
IDENTITY_VERSION = 1


def evaluator_id(kind: str, settings: Mapping[str, JSON]) -> str:
    """The identity of an evaluator's version: its kind, and everything that can change its
    ratings."""
    return digest(["evaluator", IDENTITY_VERSION, kind, settings])


def evaluation_id(log: str, evaluator: str, data: Mapping[str, JSON], judging: int = 0) -> str:
    """The identity of an evaluation.

    It is derived from the log's content, the version of the evaluator, the number of the judging
    (from 0), and the part of the corpus that can change the ratings.
    """
    return digest(["evaluation", IDENTITY_VERSION, log, evaluator, data, judging])
