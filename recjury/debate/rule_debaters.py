"""Debaters without a model: fixed rules that weigh three factors and move towards the others.

The rule is deterministic. It is our own, as the paper has none (docs/measured-judges.md gives the
reasons for its weights):

- What a score means to a role, from 0 to 1. A factor that counts faults (Coherence, Recoverability,
  Groundness, the three of language, Semantic Relevance) has at most 0.75, because nothing wrong was
  found, which is not the same as good. Effectiveness has 1 for a target in the list, and at most
  0.45 without one. The other factors have their share of the scale.
- Round 1: the mean of the role's three factors by their importance to the role, times 2 minus what
  the score means, so that a bad factor weighs up to twice as much as a good one. The result is
  multiplied by 100 and rounded half up to a whole number. Unscored factors are left out.
- Later rounds: halfway from the role's last score to the mean of the others' last scores, rounded
  to a whole number, a half towards the others, and at least by one point if half a point is
  between them. The Common User, who is the one to be served, counts
  three times in that mean, and moves by an eighth of the way itself: whether a person was served
  matters more than whether the sentences were smooth. A Common User that knows nothing of targets
  counts once and moves like the others.
"""

import math
from collections.abc import Mapping, Sequence

from recjury.records import JSON, ConversationLog, Factor, Rating, Role, Statement

RULE = "rule"
RULE_DEBATE = "rule-debate/"
PROTOCOL = f"{RULE_DEBATE}2"
_STEP = 0.5
_USER_STEP = 0.125
_USER_WEIGHT = 3.0
_NO_FAULT = 0.75
_NOT_SERVED = 0.6
_FAULTS = frozenset(
    {
        Factor.COHERENCE,
        Factor.RECOVERABILITY,
        Factor.GROUNDNESS,
        Factor.NATURALNESS,
        Factor.GRAMMATICAL_CORRECTNESS,
        Factor.APPROPRIATENESS,
        Factor.SEMANTIC_RELEVANCE,
    }
)
_IMPORTANCE: Mapping[Factor, float] = {
    Factor.EFFECTIVENESS: 4,
    Factor.COHERENCE: 2,
    Factor.GROUNDNESS: 2,
    Factor.NATURALNESS: 2,
    Factor.EXPLAINABILITY: 2,
}
"""What matters more to its role than 1."""


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
        log: ConversationLog,
        ratings: Sequence[Rating],
        said: Sequence[Statement],
    ) -> Statement:
        """The role's statement by rule; `ratings` are its own, and at least one of them has a
        score."""
        return rule_statement(role, number, ratings, said, has_targets=bool(log.scenario.targets))


def rule_statement(
    role: Role,
    number: int,
    ratings: Sequence[Rating],
    said: Sequence[Statement],
    *,
    has_targets: bool,
) -> Statement:
    """The rule's statement for `role` in round `number`.

    It depends only on ratings and rounds, and on whether the conversation had a target at all.
    """
    scored = [rating for rating in ratings if rating.score is not None]
    last = {s.role: s.score for s in said if s.round == number - 1 and s.score is not None}
    others = {other: score for other, score in last.items() if other is not role}
    own = last.get(role)
    if own is None or not others:
        score = _weighed(scored)
        move = f"Weighing these, I put my willingness at {score:g}."
    else:
        weights = {
            other: _USER_WEIGHT if has_targets and other is Role.COMMON_USER else 1.0
            for other in others
        }
        mean = sum(weights[other] * score for other, score in others.items())
        mean /= sum(weights.values())
        step = _USER_STEP if has_targets and role is Role.COMMON_USER else _STEP
        score = _nearest(own + step * (mean - own), mean)
        if score == own and step == _STEP and abs(mean - own) >= _STEP:
            score += math.copysign(1, mean - own)
        move = _moved(own, mean, score)
    return Statement(
        role=role, round=number, speaker=RULE, text=f"{_evidence(scored)} {move}", score=score
    )


def _weighed(scored: Sequence[Rating]) -> float:
    values = [_value(rating) for rating in scored]
    weights = [_importance(rating) for rating in scored]
    total = sum(weight * value for weight, value in zip(weights, values, strict=True))
    return _nearest(100 * total / sum(weights), 100)


def _importance(rating: Rating) -> float:
    return _IMPORTANCE.get(Factor(rating.factor), 1.0) * (2 - _value(rating))


def _value(rating: Rating) -> float:
    """What a score means to its role, from 0 to 1."""
    assert rating.score is not None
    assert rating.high is not None  # factors have a scale
    share = (rating.score - rating.low) / (rating.high - rating.low)
    if rating.factor == Factor.EFFECTIVENESS:
        return share if share == 1 else share * _NOT_SERVED
    return share * _NO_FAULT if rating.factor in _FAULTS else share


def _nearest(value: float, towards: float) -> float:
    """The nearest whole number; of two equally near, the one nearer to `towards`."""
    return float(math.floor(value + 0.5) if towards > value else math.ceil(value - 0.5))


def _evidence(scored: Sequence[Rating]) -> str:
    marks = [f"{rating.factor} {rating.score:g} of {rating.high:g}" for rating in scored]
    weightiest = max(scored, key=_importance)
    differ = len({_importance(rating) for rating in scored}) > 1
    heaviest = f"; {weightiest.factor} weighs most" if differ else ""
    return f"My factors stand at {', '.join(marks)}{heaviest}."


def _moved(own: float, mean: float, score: float) -> str:
    if score == own:
        return f"The others stand at {mean:.1f} by weight, so I stay at {score:g}."
    return f"The others stand at {mean:.1f} by weight: I move from {own:g} to {score:g}."
