"""The debate itself: rounds of four statements, and the verdict (CoRE 4.2).

All four roles speak at the same time and know the completed rounds. The debate ends when all
scores are equal, when a role's statement is missing, or after the round limit. The verdict is the
mean score of the last round; it has no score if a statement is missing there.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from recjury.debate.roles import own_ratings
from recjury.llm import gather
from recjury.records import (
    JSON,
    OVERALL_SCALE,
    ConversationLog,
    Debate,
    DebateTranscript,
    Rating,
    Role,
    Statement,
    Status,
    Verdict,
)

MAX_ROUNDS = 4
OVERALL = "Overall"
"""The factor that a verdict rates."""
DEBATE = "debate"
"""The rater of a verdict."""
EDITED = "edited"
"""The speaker of a statement that was edited."""


class Debater(Protocol):
    """Plays the four roles. One object serves all debates, many at the same time."""

    @property
    def protocol(self) -> str:
        """The rules and prompts of the debaters, with their version."""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change the statements: part of the evaluator's version."""

    def speaker(self, role: Role) -> str:
        """The name of the player of `role`: "rule", or a model's alias."""

    async def speak(
        self,
        role: Role,
        number: int,
        log: ConversationLog,
        ratings: Sequence[Rating],
        said: Sequence[Statement],
    ) -> Statement:
        """The role's statement in round `number` (1-based).

        `ratings` are the role's own, at least one of them scored; `said` are the statements of
        all completed rounds, by round and then in the order of `Role`.
        """


async def run_debate(
    log: ConversationLog,
    ratings: Sequence[Rating],
    debaters: Debater,
    *,
    max_rounds: int = MAX_ROUNDS,
    opening: Sequence[Statement] = (),
) -> Debate:
    """Debate `log` over `ratings` (one per factor) for at most `max_rounds` rounds.

    A role without any scored factor abstains and is not asked. Only the statements are carried
    from round to round, so a debate that is run again makes the same calls, which the store
    answers. For statements in `opening`, nobody is asked.
    Raises ValueError for a factor that was rated twice or a limit below 1.
    """
    if max_rounds < 1:
        raise ValueError(f"a debate has at least 1 round, got {max_rounds}")
    given = {(statement.round, statement.role): statement for statement in opening}
    said: tuple[Statement, ...] = ()
    for number in range(1, max_rounds + 1):
        asked = [role for role in Role if (number, role) not in given]
        heard = await gather(_turn(role, number, log, ratings, debaters, said) for role in asked)
        given |= {(number, statement.role): statement for statement in heard}
        spoken = [given[number, role] for role in Role]
        said += tuple(spoken)
        if is_over(spoken):
            break
    transcript = DebateTranscript(
        log=log.id,
        max_rounds=max_rounds,
        protocol=debaters.protocol,
        judges=tuple(sorted({rating.evaluator for rating in ratings})),
        statements=said,
    )
    return Debate(transcript, verdict(transcript))


def is_over(spoken: Sequence[Statement]) -> bool:
    """Whether a round ends the debate: all scores are equal, or a statement is missing."""
    return _missing(spoken) is not None or len(_scores(spoken)) <= 1 or _equal(_scores(spoken))


def verdict(transcript: DebateTranscript) -> Verdict:
    """The outcome of a finished debate: the mean of its last round, or the reason why there is
    none."""
    last = transcript.of_round(transcript.rounds)
    scores = _scores(last)
    missing = _missing(last)
    if missing is not None:
        status, score = missing.status, None
        reason = f"{missing.role} in round {missing.round}: {missing.reason}"
    elif not scores:
        status, score, reason = Status.ABSTAINED, None, "no role had a scored factor"
    else:
        status, score, reason = Status.SCORED, sum(scores) / len(scores), ""
    return Verdict(
        score=score,
        status=status,
        reason=reason,
        spoke=len(scores),
        rounds=transcript.rounds,
        agreed=missing is None and len(scores) > 1 and _equal(scores),
    )


def overall(debate: Debate) -> Rating:
    """The verdict of a debate as a rating; its rubric is the debate's protocol."""
    low, high = OVERALL_SCALE
    transcript, outcome = debate
    return Rating(
        evaluator=DEBATE,
        factor=OVERALL,
        score=outcome.score,
        status=outcome.status,
        reason=outcome.reason,
        low=low,
        high=high,
        rubric=transcript.protocol,
    )


async def _turn(
    role: Role,
    number: int,
    log: ConversationLog,
    ratings: Sequence[Rating],
    debaters: Debater,
    said: Sequence[Statement],
) -> Statement:
    own = own_ratings(role, ratings)
    if any(rating.score is not None for rating in own):
        return await debaters.speak(role, number, log, own, said)
    return abstention(role, number, debaters.speaker(role))


def abstention(role: Role, number: int, speaker: str) -> Statement:
    """The statement of a role without any scored factor."""
    return Statement(
        role=role,
        round=number,
        speaker=speaker,
        text="",
        score=None,
        status=Status.ABSTAINED,
        reason="abstains: none of its three factors has a score",
    )


def _scores(spoken: Sequence[Statement]) -> list[float]:
    return [statement.score for statement in spoken if statement.score is not None]


def _equal(scores: Sequence[float]) -> bool:
    return len(set(scores)) == 1


def _missing(spoken: Sequence[Statement]) -> Statement | None:
    fine = (Status.SCORED, Status.ABSTAINED)
    return next((statement for statement in spoken if statement.status not in fine), None)
