"""Debaters without a model: fixed rules that weigh three factors and move towards the others.

The rule is deterministic. It is our own, as the paper has none (docs/measured-judges.md gives the
reasons for its weights):

- What a score means to a role, from 0 to 1. A factor that counts faults (Coherence, Recoverability,
  Groundness, the three of language, Semantic Relevance) has at most 0.75, because nothing wrong was
  found, which is not the same as good. Effectiveness has 1 for a target in the list, and at most
  0.45 without one. The other factors have their share of the scale.
- Where the scenario has no target, how the user took it counts for the Common User like a further
  factor as important as Effectiveness (`reception`): what people say of a system's suggestions
  follows their ratings better than anything else that is read here.
- Round 1: the mean of what the role's factors mean by their importance to the role, times 2 minus
  what each means, so that a bad factor weighs up to twice as much as a good one. The result is
  multiplied by 100 and rounded half up to a whole number. Unscored factors are left out.
- Later rounds: halfway from the role's last score to the mean of the others' last scores, rounded
  to a whole number, a half towards the others, and at least by one point if half a point is
  between them. The Common User, who is the one to be served, counts
  three times in that mean, and moves by an eighth of the way itself: whether a person was served
  matters more than whether the sentences were smooth. A Common User that knows neither of targets
  nor of how the user took it counts once and moves like the others.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recjury.debate.reception import reception_of
from recjury.records import JSON, ConversationLog, Factor, Rating, Role, Statement

RULE = "rule"
RULE_DEBATE = "rule-debate/"
PROTOCOL = f"{RULE_DEBATE}3"
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
_SAID = "what the user said"


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
        return rule_statement(role, number, log, ratings, said)


class _Concern(NamedTuple):
    """What a role weighs: in words, what it means from 0 to 1, and how much it counts."""

    name: str
    words: str
    value: float
    importance: float

    @property
    def weight(self) -> float:
        """A bad one weighs up to twice as much as a good one."""
        return self.importance * (2 - self.value)


def rule_statement(
    role: Role,
    number: int,
    log: ConversationLog,
    ratings: Sequence[Rating],
    said: Sequence[Statement],
) -> Statement:
    """The rule's statement for `role` in round `number`.

    It depends only on ratings and rounds, on whether the conversation had a target at all, and if
    not, on what its user said.
    """
    has_targets = bool(log.scenario.targets)
    reception = None if has_targets else reception_of(log)
    user_leads = has_targets or reception is not None
    concerns = [_concern(rating) for rating in ratings if rating.score is not None]
    marks = f"My factors stand at {', '.join(each.words for each in concerns)}"
    heard = ""
    if role is Role.COMMON_USER and reception is not None:
        heard = f" Of the user's replies {reception}."
        importance = _IMPORTANCE[Factor.EFFECTIVENESS]
        concerns.append(_Concern(_SAID, heard, reception.served, importance))
    evidence = f"{marks}{_heaviest(concerns)}.{heard}"
    last = {s.role: s.score for s in said if s.round == number - 1 and s.score is not None}
    others = {other: score for other, score in last.items() if other is not role}
    own = last.get(role)
    if own is None or not others:
        score = _weighed(concerns)
        move = f"Weighing these, I put my willingness at {score:g}."
    else:
        weights = {
            other: _USER_WEIGHT if user_leads and other is Role.COMMON_USER else 1.0
            for other in others
        }
        mean = sum(weights[other] * score for other, score in others.items())
        mean /= sum(weights.values())
        step = _USER_STEP if user_leads and role is Role.COMMON_USER else _STEP
        score = _nearest(own + step * (mean - own), mean)
        if score == own and step == _STEP and abs(mean - own) >= _STEP:
            score += math.copysign(1, mean - own)
        move = _moved(own, mean, score)
    return Statement(role=role, round=number, speaker=RULE, text=f"{evidence} {move}", score=score)


def _concern(rating: Rating) -> _Concern:
    assert rating.score is not None
    assert rating.high is not None  # factors have a scale
    share = (rating.score - rating.low) / (rating.high - rating.low)
    words = f"{rating.factor} {rating.score:g} of {rating.high:g}"
    importance = _IMPORTANCE.get(Factor(rating.factor), 1.0)
    return _Concern(rating.factor, words, _value(rating.factor, share), importance)


def _value(factor: str, share: float) -> float:
    """What a share of a factor's scale means to a role, from 0 to 1."""
    if factor == Factor.EFFECTIVENESS:
        return share if share == 1 else share * _NOT_SERVED
    return share * _NO_FAULT if factor in _FAULTS else share


def _weighed(concerns: Sequence[_Concern]) -> float:
    total = sum(each.weight * each.value for each in concerns)
    return _nearest(100 * total / sum(each.weight for each in concerns), 100)


def _nearest(value: float, towards: float) -> float:
    """The nearest whole number; of two equally near, the one nearer to `towards`."""
    return float(math.floor(value + 0.5) if towards > value else math.ceil(value - 0.5))


def _heaviest(concerns: Sequence[_Concern]) -> str:
    if len({each.weight for each in concerns}) == 1:
        return ""
    return f"; {max(concerns, key=lambda each: each.weight).name} weighs most"


def _moved(own: float, mean: float, score: float) -> str:
    if score == own:
        return f"The others stand at {mean:.1f} by weight, so I stay at {score:g}."
    return f"The others stand at {mean:.1f} by weight: I move from {own:g} to {score:g}."
