"""When a debate is over, and what its verdict is: the rules, with their versions.

A debate is over when the roles agree, or after the round limit. The verdict is the mean score of
the last round over the roles that spoke. A role without any scored factor abstains. A role is
missing in a round if its model gave no statement that can be used, or refuses the request for good.

Models agree when all scores are equal, debaters by rule when theirs are near
(`opinions.AGREEMENT_DISTANCE`). A round with a missing role is no agreement, and the debate goes
on, unless nobody spoke in the first round. The verdict is unscored if more than one role is missing
in the last round, if nobody spoke there, or, by rule, if only one role has scored factors. A call
that failed, but may succeed later, ends a debate: it is held again.

The protocol of a debate names its rules, so that stored debates verify under theirs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.debate.opinions import AGREEMENT_DISTANCE
from recjury.records import DebateTranscript, Statement, Status, Verdict

RULE_DEBATE = "rule-debate/"
RULE_PROTOCOL = f"{RULE_DEBATE}6"
"""The protocol of debates without a model."""
RULES = "; rules 2"
"""What the protocol of a debate between models has after its prompts."""
OVERALL = "Overall"
"""The factor that a verdict rates."""
RULE_VERDICT = "Rule verdict"
"""The title of that factor where no model debated."""
_LONGEST_REASON = 120
NOT_SAID = "gave no statement in this round"
"""What the other roles are told about a missing role."""


class _Limits(NamedTuple):
    """How far apart scores may be that agree, and how many of them a verdict needs."""

    apart: float = 0
    fewest: int = 1


_LIMITS = {
    f"{RULE_DEBATE}4": _Limits(5),
    f"{RULE_DEBATE}5": _Limits(5, 2),
    RULE_PROTOCOL: _Limits(AGREEMENT_DISTANCE, 2),
}
"""Of the protocols that are not held to the limits of models."""


def _limits(protocol: str) -> _Limits:
    return _LIMITS.get(protocol, _Limits())


def is_by_rule(protocol: str) -> bool:
    """Whether no model debated, under any version of the rule."""
    return protocol.startswith(RULE_DEBATE)


def verdict_name(protocol: str) -> str:
    """What the outcome of a debate is called where it stands alone."""
    return RULE_VERDICT.lower() if is_by_rule(protocol) else "verdict"


def is_over(spoken: Sequence[Statement], protocol: str) -> bool:
    """Whether a round ends a debate under the rules of `protocol`."""
    scores, missing = _scores(spoken), missing_of(spoken)
    if len(scores) + len(missing) <= 1:
        return True
    if not missing:
        return _agree(scores, protocol)
    return bool(_lost(missing)) or (not scores and missing[0].round == 1)


def verdict(transcript: DebateTranscript) -> Verdict:
    """The outcome of a finished debate under its rules: the mean of its last round, or the reason
    why there is none."""
    last = transcript.of_round(transcript.rounds)
    scores, missing = _scores(last), missing_of(last)
    score: float | None = None
    status, reason = Status.SCORED, ""
    if not scores and not missing:
        status, reason = Status.ABSTAINED, "no role had a scored factor"
    elif lost := _lost(missing):
        status = Status.CALL_FAILED
        reason = f"{lost[0].role} in round {lost[0].round}: {lost[0].reason}"
    elif not missing and len(scores) < _limits(transcript.protocol).fewest:
        status = Status.ABSTAINED
        alone = next(each.role for each in last if each.score is not None)
        reason = f"the {alone} alone has scored factors, and a debate needs two roles"
    elif len(missing) > 1 or not scores:
        refused = all(each.status is Status.REFUSED for each in missing)
        status = Status.REFUSED if refused else Status.UNREADABLE
        reason = _who_is_missing(missing, len(scores))
    else:
        score = mean_of_round(transcript, transcript.rounds)
    return Verdict(
        score=score,
        status=status,
        reason=reason,
        spoke=len(scores),
        rounds=transcript.rounds,
        agreed=not missing and len(scores) > 1 and _agree(scores, transcript.protocol),
    )


def mean_of_round(transcript: DebateTranscript, number: int) -> float | None:
    """The mean score of a round over the roles that spoke in it; None if nobody did."""
    scores = _scores(transcript.of_round(number))
    return sum(scores) / len(scores) if scores else None


def missing_of(spoken: Sequence[Statement]) -> list[Statement]:
    """The statements of roles that could speak, but have no score."""
    fine = (Status.SCORED, Status.ABSTAINED)
    return [statement for statement in spoken if statement.status not in fine]


def as_shown(said: Sequence[Statement]) -> list[Statement]:
    """`said` as the roles see it in later rounds: why a statement is missing is not shown."""
    silent = {id(statement) for statement in missing_of(said)}
    return [
        each.model_copy(update={"reason": NOT_SAID}) if id(each) in silent else each
        for each in said
    ]


def _who_is_missing(missing: Sequence[Statement], spoke: int) -> str:
    why = "; ".join(f"{each.role}: {_short(each.reason)}" for each in missing)
    able = len(missing) + spoke
    return f"round {missing[0].round} lacks {len(missing)} of {able} statements ({why})"


def _short(reason: str) -> str:
    line = " ".join(reason.split())
    return line if len(line) <= _LONGEST_REASON else f"{line[: _LONGEST_REASON - 3]}..."


def _lost(missing: Sequence[Statement]) -> list[Statement]:
    """The statements whose call failed, but may succeed later."""
    return [statement for statement in missing if statement.status is Status.CALL_FAILED]


def _scores(spoken: Sequence[Statement]) -> list[float]:
    return [statement.score for statement in spoken if statement.score is not None]


def _agree(scores: Sequence[float], protocol: str) -> bool:
    return max(scores) - min(scores) <= _limits(protocol).apart
