"""The debate itself: rounds of four statements, and the verdict (CoRE 4.2).

All four roles speak at the same time and know the completed rounds. `recjury.debate.rules` has when
a debate is over, and its verdict.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from recjury.debate.rated_log import RatedLog
from recjury.debate.rules import OVERALL, as_shown, is_over, mean_of_round, verdict
from recjury.llm import gather
from recjury.records import (
    JSON,
    OVERALL_SCALE,
    Debate,
    DebateTranscript,
    Rating,
    RatingSubject,
    Role,
    Statement,
    Status,
)

MAX_ROUNDS = 4
DEBATE = "debate"
"""The rater of a verdict."""
EDITED = "edited"
"""The speaker of a statement that was edited."""


class Debater(Protocol):
    """Plays the four roles. One object serves all debates, many at the same time."""

    @property
    def protocol(self) -> str:
        """The rules and prompts of the debate, with their versions (`recjury.debate.rules`)."""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change the statements: part of the evaluator's version."""

    def speaker(self, role: Role) -> str:
        """The name of the player of `role`: "rule", or a model's alias."""

    async def speak(
        self, role: Role, number: int, rated: RatedLog, said: Sequence[Statement]
    ) -> Statement:
        """The role's statement in round `number` (1-based).

        At least one of the role's ratings in `rated` is scored; `said` are the statements of all
        completed rounds, by round and then in the order of `Role`. The statement of a role that is
        missing in a round has no score there.
        """


async def run_debate(
    rated: RatedLog,
    debaters: Debater,
    *,
    max_rounds: int = MAX_ROUNDS,
    opening: Sequence[Statement] = (),
) -> Debate:
    """Debate a log over its ratings, one per factor, for at most `max_rounds` rounds.

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
        shown = as_shown(said)
        heard = await gather(_turn(role, number, rated, debaters, shown) for role in asked)
        given |= {(number, statement.role): statement for statement in heard}
        spoken = [given[number, role] for role in Role]
        said += tuple(spoken)
        if is_over(spoken, debaters.protocol):
            break
    transcript = DebateTranscript(
        log=rated.log.id,
        max_rounds=max_rounds,
        protocol=debaters.protocol,
        judges=tuple(sorted({rating.evaluator for rating in rated.ratings})),
        statements=said,
    )
    return Debate(transcript, verdict(transcript))


def overall(debate: Debate) -> Rating:
    """The verdict of a debate as a rating; its rubric is the debate's protocol."""
    low, high = OVERALL_SCALE
    transcript, outcome = debate
    subject = RatingSubject(
        evaluator=DEBATE, factor=OVERALL, low=low, high=high, rubric=transcript.protocol
    )
    if outcome.score is None:
        return subject.unscored(outcome.status, outcome.reason)
    return subject.scored(outcome.score, before_and_after(transcript))


def before_and_after(transcript: DebateTranscript) -> str:
    """The mean of the roles' scores before the debate moved them, and after; "" without both.

    If both are the same to one digit, it says that the debate did not change the mean.
    """
    first, last = (mean_of_round(transcript, number) for number in (1, transcript.rounds))
    if first is None or last is None:
        return ""
    if f"{first:.1f}" == f"{last:.1f}":
        return f"mean of the roles: {last:.1f}, not changed by the debate"
    return f"mean of the roles: {first:.1f} before the debate, {last:.1f} after it"


async def _turn(
    role: Role,
    number: int,
    rated: RatedLog,
    debaters: Debater,
    said: Sequence[Statement],
) -> Statement:
    if rated.scored(role):
        return await debaters.speak(role, number, rated, said)
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
