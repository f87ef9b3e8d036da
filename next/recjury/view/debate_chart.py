"""A debate as a drawing: 0 to 100 across, rounds downwards, and what was said beside it."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from recjury.records import Debate, Statement, Status

ROW = 72  # pixels of a round
TOP = 22  # pixels of the axis above the rounds
_EDGE = 4.0  # per cent of the width at both sides: a disc at 0 or 100 is whole
_NEAR = 7.0  # per cent of the width: closer discs would cover each other
_STEP = 17.0  # pixels between discs that are near each other


class Disc(NamedTuple):
    """A role in a round. `x` is in per cent of the width, `y` in pixels."""

    role: int
    round: int
    letter: str
    x: float
    y: float


class Leg(NamedTuple):
    """A role's way from one round to the next one that it spoke in, `round`."""

    role: int
    round: int
    x1: float
    y1: float
    x2: float
    y2: float


class Said(NamedTuple):
    """A statement for readers. `was` is the role's score before; `move` says towards whom."""

    role: int
    letter: str
    statement: Statement
    was: float | None
    move: str


class Round(NamedTuple):
    """A round: its statements, and how far the scores lie apart (None without scores)."""

    number: int
    said: list[Said]
    spread: float | None
    spread_before: float | None


class DebateChart(NamedTuple):
    """All that a page shows of a debate.

    `shorts` has how a command names each role; `axis` the numbers across, each with its `x`; `low`
    and `high` are the ends of the last round's scores as `x`.
    """

    shorts: list[tuple[str, str]]
    axis: list[tuple[float, int]]
    discs: list[Disc]
    legs: list[Leg]
    rounds: list[Round]
    height: int
    low: float | None
    high: float | None
    verdict: float | None
    agreed: bool
    label: str


def debate_chart(debate: Debate) -> DebateChart:
    """The drawing of a debate, and its statements by round."""
    roles = list(dict.fromkeys(said.role for said in debate.statements))
    letters = letters_of(roles)
    by_round = [_of(debate, number) for number in range(1, debate.rounds + 1)]
    discs = [disc for spoken in by_round for disc in _discs(spoken, roles, letters)]
    rounds = list(_rounds(by_round, roles, letters))
    last = [disc.x for disc in discs if disc.round == debate.rounds]
    verdict = debate.verdict.score
    return DebateChart(
        shorts=[(role, _short(role, roles)) for role in roles],
        axis=[(across(score), score) for score in (0, 25, 50, 75, 100)],
        discs=discs,
        legs=list(_legs(discs, len(roles))),
        rounds=rounds,
        height=TOP + ROW * debate.rounds + 20,
        low=min(last, default=None),
        high=max(last, default=None),
        verdict=None if verdict is None else across(verdict),
        agreed=bool(by_round) and _agree(by_round[-1]),
        label=_label(rounds),
    )


def across(score: float) -> float:
    """Where a score from 0 to 100 stands, in per cent of the width."""
    return round(_EDGE + (100 - 2 * _EDGE) * min(max(score, 0), 100) / 100, 2)


def _of(debate: Debate, number: int) -> list[Statement]:
    return [said for said in debate.statements if said.round == number]


def _agree(spoken: Sequence[Statement]) -> bool:
    """Whether all who spoke give one score (CoRE, 4.2), and nobody is missing."""
    heard = [said for said in spoken if said.status is not Status.NOT_APPLICABLE]
    return all(said.status is Status.OK for said in heard) and len({s.score for s in heard}) == 1


def letters_of(roles: Sequence[str]) -> list[str]:
    """A letter for each role: the first one of its name that no role before it has."""
    taken: list[str] = []
    for role in roles:
        free = (letter.upper() for letter in role if letter.isalnum())
        taken.append(next((letter for letter in free if letter not in taken), str(len(taken) + 1)))
    return taken


def _short(role: str, roles: Sequence[str]) -> str:
    """The first word of a role if no other role begins so, else all of it, for a shell."""
    word = role.split(" ")[0].casefold()
    is_own = sum(each.casefold().startswith(word) for each in roles) == 1
    return shlex.quote(word if is_own else role)


def _discs(spoken: Sequence[Statement], roles: list[str], letters: list[str]) -> Iterator[Disc]:
    """The discs of a round; those that are near each other stand one below the other."""
    scored = sorted(
        (across(said.score), roles.index(said.role), said.round)
        for said in spoken
        if said.score is not None
    )
    for group in _near(scored):
        step = min(_STEP, (ROW - 18) / max(1, len(group) - 1))
        for place, (x, role, number) in enumerate(group):
            y = TOP + ROW * (number - 0.5) + step * (place - (len(group) - 1) / 2)
            yield Disc(role, number, letters[role], x, y)


def _near(placed: Sequence[tuple[float, int, int]]) -> Iterator[list[tuple[float, int, int]]]:
    group: list[tuple[float, int, int]] = []
    for each in placed:
        if group and each[0] - group[-1][0] >= _NEAR:
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _legs(discs: Sequence[Disc], roles: int) -> Iterator[Leg]:
    for role in range(roles):
        own = [disc for disc in discs if disc.role == role]
        for one, other in pairwise(own):
            yield Leg(role, other.round, one.x, one.y, other.x, other.y)


def _rounds(
    by_round: Sequence[Sequence[Statement]], roles: list[str], letters: list[str]
) -> Iterator[Round]:
    before: dict[str, float] = {}
    for number, spoken in enumerate(by_round, 1):
        said = [
            Said(
                roles.index(each.role),
                letters[roles.index(each.role)],
                each,
                before.get(each.role),
                _move(each, before),
            )
            for each in spoken
        ]
        now = {each.role: each.score for each in spoken if each.score is not None}
        yield Round(number, said, _spread(now), _spread(before))
        before = now


def _spread(scores: dict[str, float]) -> float | None:
    return max(scores.values()) - min(scores.values()) if scores else None


def _move(said: Statement, before: dict[str, float]) -> str:
    """Towards whom a role moved: of those on that side, the one it came closest to."""
    was = before.get(said.role)
    if said.score is None or was is None:
        return ""
    if said.score == was:
        return "stays"
    ahead = {
        role: abs(score - said.score)
        for role, score in before.items()
        if role != said.role and (score - was) * (said.score - was) > 0
    }
    return f"towards the {min(ahead, key=lambda role: ahead[role])}" if ahead else "away from all"


def _label(rounds: Sequence[Round]) -> str:
    """The drawing in words."""
    lines = []
    for each in rounds:
        scores = [
            f"{said.statement.role} {said.statement.score:g}"
            for said in each.said
            if said.statement.score is not None
        ]
        lines.append(f"Round {each.number}: {', '.join(scores) or 'nobody has a score'}.")
    return " ".join(lines)
