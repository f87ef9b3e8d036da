"""Debaters without a model: opinions that move by the evidence that the others cite.

The paper has no such rule; it is ours (docs/judging.md has it on one page, with its weights). A
role begins with the plain mean of its scored factors. `recjury.debate.opinions` has how it moves.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from recjury.debate.opinions import Opinion, moved, trusted_mean
from recjury.debate.rated_log import RatedLog
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

    It depends on scores, evidence, and the scores of the round before, in no order of the roles.
    """
    others = {
        each.role: _opinion(each.role, each.score, rated)
        for each in said
        if each.round == number - 1 and each.score is not None
    }
    own = others.pop(role, None)
    scored = rated.scored(role)
    if own is None or not others:
        score = first_opinion(scored)
        move = f"Their plain mean is {score:g} of {OVERALL_SCALE[1]}."
    else:
        score = moved(own.score, tuple(others.values()))
        move = _move(own.score, score, others)
    factors = ", ".join(f"{each.factor} {each.score:g} of {each.high:g}" for each in scored)
    text = f"My factors: {factors}. {move} {_cited(role, rated)}"
    return Statement(role=role, round=number, speaker=RULE, text=text, score=score)


def _opinion(role: Role, score: float, rated: RatedLog) -> Opinion:
    turns = set(rated.log.system_turn_indices)
    cited = {each.turn for each in rated.findings(role)} & turns
    return Opinion(score, len(cited), len(turns))


def first_opinion(scored: Sequence[Rating]) -> float:
    """The plain mean of the ratings' shares of their scales, from 0 to 100.

    Rounded to a whole number, half up, as models answer.
    """
    return float(math.floor(OVERALL_SCALE[1] * fmean(map(_share, scored)) + 0.5))


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
    scores = {rating.factor: rating.score or 0 for rating in rated.scored(role)}
    there = (each for each in findings if each.turn == index)
    finding = min(there, key=lambda each: scores[each.factor])
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
