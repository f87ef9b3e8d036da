"""Debaters without a model: opinions that move by the evidence that the others cite.

The paper has no such rule; it is ours (docs/judging.md has it on one page, with its weights). A
role begins with the plain mean of its scored factors. The Common User, who speaks for the user,
begins halfway between this and what the user did (`recjury.debate.reception`), if that is known.
`recjury.debate.opinions` has how opinions move.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from recjury.debate.opinions import Opinion, moved, trusted_mean
from recjury.debate.rated_log import RatedLog
from recjury.debate.reception import TAKEN_UP
from recjury.debate.rules import RULE_PROTOCOL
from recjury.records import JSON, OVERALL_SCALE, Rating, Role, Statement

RULE = "rule"
_LONGEST_QUOTE = 120  # characters
_READ = 1000  # characters: a turn may have a megabyte
_QUOTATION_MARKS = str.maketrans('“”„«»"', "''''''")


class RuleDebaters:
    """The four roles played by the rule above, named "rule" wherever they appear."""

    @property
    def protocol(self) -> str:
        """The rule's name and version."""
        return RULE_PROTOCOL

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The rule's name and version: nothing else can change the statements."""
        return {"debaters": RULE, "protocol": RULE_PROTOCOL}

    def speaker(self, role: Role) -> str:  # noqa: ARG002 (one rule plays every role)
        """Always "rule"."""
        return RULE

    async def speak(
        self, role: Role, number: int, rated: RatedLog, said: Sequence[Statement]
    ) -> Statement:
        """The role's statement by rule; at least one of its factors has a score."""
        return rule_statement(role, number, rated, said)


def rule_statement(
    role: Role, number: int, rated: RatedLog, said: Sequence[Statement]
) -> Statement:
    """The rule's statement for `role` in round `number`.

    It depends on scores, evidence, what the user did, and the scores of the round before, in no
    order of the roles.
    """
    others = {
        each.role: _opinion(each.role, each.score, rated)
        for each in said
        if each.round == number - 1 and each.score is not None
    }
    own = others.pop(role, None)
    if own is None or not others:
        score, move = _begin(role, rated)
    else:
        score = moved(own.score, tuple(others.values()))
        move = _move(own.score, score, others)
    factors = ", ".join(
        f"{each.factor} {each.score:g} of {each.high:g}" for each in rated.scored(role)
    )
    text = f"My factors: {factors}. {move} {_cited(role, rated)}"
    return Statement(role=role, round=number, speaker=RULE, text=text, score=score)


def _opinion(role: Role, score: float, rated: RatedLog) -> Opinion:
    turns = set(rated.log.system_turn_indices)
    cited = {each.turn for each in rated.findings(role)} & turns
    return Opinion(score, len(cited), len(turns))


def _begin(role: Role, rated: RatedLog) -> tuple[float, str]:
    """The role's first score, and why."""
    worth = fmean(map(_share, rated.scored(role)))
    because = f"Their plain mean is {_of_100(worth):g} of {OVERALL_SCALE[1]}."
    reception = rated.reception(role)
    if not reception:
        return _of_100(worth), because
    taken_up = sum(each.label == TAKEN_UP for each in reception)
    score = _of_100(fmean((worth, taken_up / len(reception))))
    did = f"takes up {taken_up} and turns down {len(reception) - taken_up}"
    return score, f"{because} Of the system's turns, the user {did}, so I begin at {score:g}."


def _of_100(share: float) -> float:
    """A share from 0 to 1 as a whole number up to 100, half up, as models answer."""
    return float(math.floor(OVERALL_SCALE[1] * share + 0.5))


def _share(rating: Rating) -> float:
    assert rating.score is not None
    assert rating.high is not None  # factors have a scale
    return (rating.score - rating.low) / (rating.high - rating.low)


def _move(own: float, score: float, others: Mapping[Role, Opinion]) -> str:
    """Where the role moves, and why."""
    heard = ", ".join(
        f"{role} {each.score:g}, citing {each.cited} of {each.turns} turns"
        for role, each in others.items()
    )
    mean = trusted_mean(tuple(others.values()))
    move = f"stay at {own:g}" if score == own else f"move from {own:g} to {score:g}"
    return f"Weighed by what they cite, the others stand at {mean:.0f} ({heard}), so I {move}."


def _cited(role: Role, rated: RatedLog) -> str:
    """The turn that weighs most for the role, in its own words: the one with most findings."""
    findings = rated.findings(role)
    if not findings:
        return "I can cite no turn."
    counts = Counter(each.turn for each in findings if each.turn is not None)
    index = min(counts, key=lambda turn: (-counts[turn], turn))
    shares = {rating.factor: _share(rating) for rating in rated.scored(role)}
    there = (each for each in findings if each.turn == index)
    finding = min(there, key=lambda each: shares.get(each.factor, each.label == TAKEN_UP))
    turn = rated.log.interaction[index]
    said = f"turn {index + 1}, {turn.speaker}: {_quoted(turn.text)}"
    why = f"{finding.factor}: {_one_line(finding.note or finding.label)}"
    total = f"{len(findings)} finding{'' if len(findings) == 1 else 's'}"
    return f"I cite {total}; what weighs most is {said} ({why})."


def _quoted(text: str) -> str:
    """The text between quotation marks, which it cannot close itself."""
    return f"“{_one_line(text).translate(_QUOTATION_MARKS)}”"


def _one_line(text: str) -> str:
    line = " ".join(text[:_READ].split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[: _LONGEST_QUOTE - 3]}..."
