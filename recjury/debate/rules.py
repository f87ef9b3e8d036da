"""When a debate is over, and what its verdict is: the rules, with their versions.

A debate is over when all scores are equal, or after the round limit. The verdict is the mean score
of the last round over the roles that spoke. A role without any scored factor abstains. A role is
missing in a round if its model gave no statement that can be used, or refuses the request for good.

The rules of today (version 2): a round with a missing role is no agreement, and the debate goes on,
unless nobody spoke in the first round. The verdict is unscored if more than one role is missing in
the last round, or if nobody spoke there. In the earlier rules (version 1), a missing role ended the
debate, and the verdict was unscored. A call that failed, but may succeed later, ends a debate in
both versions: it is held again.

The protocol of a debate names its rules, so that stored debates verify under theirs. Debates by
rule have no missing roles, so both versions give the same for them, and they name none.
"""

import re
from collections.abc import Sequence

from recjury.records import DebateTranscript, Statement, Status, Verdict

_RULES = "; rules 2"
_PROMPTS_ONLY = re.compile(r"[^/]+/[^/+]+\+[0-9a-f]{16}(?: in .+?)?")
_WITH_RULES = re.compile(rf"({_PROMPTS_ONLY.pattern}){re.escape(_RULES)}")
_LONGEST_REASON = 120
NOT_SAID = "gave no statement in this round"
"""What the other roles are told about a missing role."""


def with_rules(prompts: str) -> str:
    """The protocol of debates that are held with `prompts` (a pack's identity) from now on."""
    return f"{prompts}{_RULES}"


def split_protocol(protocol: str) -> tuple[str, str]:
    """The prompts (or the rule of the debaters) of a protocol, and what names its rules.

    The second is empty for the earlier rules, and for debates by rule.
    """
    named = _WITH_RULES.fullmatch(protocol)
    return (protocol, "") if named is None else (named[1], _RULES)


def is_over(spoken: Sequence[Statement], protocol: str) -> bool:
    """Whether a round ends a debate under the rules of `protocol`."""
    scores, missing = _scores(spoken), missing_of(spoken)
    if len(scores) + len(missing) <= 1:
        return True
    if not missing:
        return _equal(scores)
    if _has_earlier_rules(protocol) or _lost(missing):
        return True
    return not scores and missing[0].round == 1


def verdict(transcript: DebateTranscript) -> Verdict:
    """The outcome of a finished debate under its rules: the mean of its last round, or the reason
    why there is none."""
    last = transcript.of_round(transcript.rounds)
    scores, missing = _scores(last), missing_of(last)
    score: float | None = None
    status, reason = Status.SCORED, ""
    if not scores and not missing:
        status, reason = Status.ABSTAINED, "no role had a scored factor"
    elif missing and (_has_earlier_rules(transcript.protocol) or _lost(missing)):
        first = (_lost(missing) or missing)[0]
        status = first.status
        reason = f"{first.role} in round {first.round}: {first.reason}"
    elif len(missing) > 1 or not scores:
        refused = all(each.status is Status.REFUSED for each in missing)
        status = Status.REFUSED if refused else Status.UNREADABLE
        reason = _who_is_missing(missing, len(scores))
    else:
        score = sum(scores) / len(scores)
    return Verdict(
        score=score,
        status=status,
        reason=reason,
        spoke=len(scores),
        rounds=transcript.rounds,
        agreed=not missing and len(scores) > 1 and _equal(scores),
    )


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


def _has_earlier_rules(protocol: str) -> bool:
    return _PROMPTS_ONLY.fullmatch(protocol) is not None and not split_protocol(protocol)[1]


def _lost(missing: Sequence[Statement]) -> list[Statement]:
    """The statements whose call failed, but may succeed later."""
    return [statement for statement in missing if statement.status is Status.CALL_FAILED]


def _scores(spoken: Sequence[Statement]) -> list[float]:
    return [statement.score for statement in spoken if statement.score is not None]


def _equal(scores: Sequence[float]) -> bool:
    return len(set(scores)) == 1
