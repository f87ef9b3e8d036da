"""Debaters without a model: fixed rules that weigh three factors and move towards the others.

The rule is deterministic. It is our own, as the paper has none:

- Round 1: the role's three factor scores as shares of their scale, averaged with the weight
  2 - share, so that a bad factor weighs up to twice as much as a good one. The result is
  multiplied by 100 and rounded half up to a whole number. Unscored factors are left out.
- Later rounds: halfway from the role's last score to the mean of the others' last scores, rounded
  to a whole number, a half towards the others. Differences shrink to about a third per round, so
  roles with near scores agree within the round limit and roles with distant scores do not. Two
  roles against two, one point apart, stay apart.
"""

import math
from collections.abc import Mapping, Sequence

from recjury.records import JSON, ConversationLog, Rating, Role, Statement

RULE = "rule"
RULE_DEBATE = "rule-debate/"
PROTOCOL = f"{RULE_DEBATE}1"
_STEP = 0.5


class RuleDebaters:
    """The four roles played by the rule above, named "rule" wherever they appear."""

    @property
    def protocol(self) -> str:
        """The rule's name and version."""
        return PROTOCOL

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The rule's name and version: nothing else can change the statements."""
        return {"debaters": RULE, "protocol": PROTOCOL}

    def speaker(self, role: Role) -> str:  # noqa: ARG002 (one rule plays every role)
        """Always "rule"."""
        return RULE

    async def speak(
        self,
        role: Role,
        number: int,
        log: ConversationLog,  # noqa: ARG002 (the rule looks at scores only)
        ratings: Sequence[Rating],
        said: Sequence[Statement],
    ) -> Statement:
        """The role's statement by rule; `ratings` are its own, and at least one of them has a
        score."""
        return rule_statement(role, number, ratings, said)


def rule_statement(
    role: Role, number: int, ratings: Sequence[Rating], said: Sequence[Statement]
) -> Statement:
    """The rule's statement for `role` in round `number`; it depends only on ratings and rounds."""
    scored = [rating for rating in ratings if rating.score is not None]
    last = {s.role: s.score for s in said if s.round == number - 1 and s.score is not None}
    others = [score for other, score in last.items() if other is not role]
    own = last.get(role)
    if own is None or not others:
        score = _weighed(scored)
        move = ""
    else:
        mean = sum(others) / len(others)
        score = _nearest(own + _STEP * (mean - own), mean)
        move = _moved(own, mean, score)
    text = f"{_evidence(scored)} {move or f'Weighing these, I put my willingness at {score:g}.'}"
    return Statement(role=role, round=number, speaker=RULE, text=text, score=score)


def _weighed(scored: Sequence[Rating]) -> float:
    shares = [_share(rating) for rating in scored]
    weights = [2 - share for share in shares]
    total = sum(weight * share for weight, share in zip(weights, shares, strict=True))
    return _nearest(100 * total / sum(weights), 100)


def _share(rating: Rating) -> float:
    assert rating.score is not None
    assert rating.high is not None  # factors have a scale
    return (rating.score - rating.low) / (rating.high - rating.low)


def _nearest(value: float, towards: float) -> float:
    """The nearest whole number; of two equally near, the one nearer to `towards`."""
    return float(math.floor(value + 0.5) if towards > value else math.ceil(value - 0.5))


def _evidence(scored: Sequence[Rating]) -> str:
    marks = [f"{rating.factor} {rating.score:g} of {rating.high:g}" for rating in scored]
    worst = min(scored, key=_share)
    heaviest = f"; {worst.factor} weighs most" if _share(worst) < max(map(_share, scored)) else ""
    return f"My factors stand at {', '.join(marks)}{heaviest}."


def _moved(own: float, mean: float, score: float) -> str:
    if score == own:
        return f"The others stand at {mean:.1f} on average, so I stay at {score:g}."
    return f"The others stand at {mean:.1f} on average: I move half the way, {own:g} to {score:g}."
