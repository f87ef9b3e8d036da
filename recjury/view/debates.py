"""Debates as drawings: 0 to 100 across, rounds downwards; one by one, and a campaign's in small."""

import math
import shlex
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

import pandas as pd

from recjury.records import Debate, Statement
from recjury.results import StoredCampaign
from recjury.results.trials import DEBATE_KEYS
from recjury.view.axes import Axis, Tick

SCALE = Axis(0, 100)
"""What verdicts and statements are drawn on, everywhere."""

ROW = 72  # pixels of a round
TOP = 22  # pixels of the axis above the rounds
_NEAR = 7.0  # per cent of the width: closer discs would cover each other
_STEP = 17.0  # pixels between discs that are near each other


class Disc(NamedTuple):
    """A role in a round, and the place of its disc before, None where it spoke first.

    `x` is in per cent of the width, `y` in pixels.
    """

    role: int
    round: int
    letter: str
    x: float
    y: float
    before: tuple[float, float] | None = None


class Said(NamedTuple):
    """A statement for readers. `was` is the role's score before; `move` says towards whom."""

    role: int
    letter: str
    statement: Statement
    was: float | None
    move: str


class Round(NamedTuple):
    """The statements of a round, and how far its scores lie apart (None without scores)."""

    said: list[Said]
    spread: float | None


class DebateChart(NamedTuple):
    """All that a page shows of a debate.

    `shorts` has how a command names each role; `ends` where the last round's scores begin and end
    on the axis, and `verdict` where the verdict is.
    """

    shorts: list[tuple[str, str]]
    ticks: list[Tick]
    discs: list[Disc]
    rounds: list[Round]
    height: int
    ends: tuple[float, float] | None
    verdict: float | None
    agreed: bool
    label: str


def debate_chart(debate: Debate) -> DebateChart:
    """The drawing of a debate, and its statements by round."""
    roles = list(dict.fromkeys(said.role for said in debate.statements))
    letters = letters_of(roles)
    by_round = [
        [said for said in debate.statements if said.round == number]
        for number in range(1, debate.rounds + 1)
    ]
    discs = list(_discs(by_round, roles, letters))
    last = [disc.x for disc in discs if disc.round == debate.rounds]
    verdict = debate.verdict.score
    return DebateChart(
        shorts=[(role, _short(role, roles)) for role in roles],
        ticks=SCALE.ticks,
        discs=discs,
        rounds=list(_rounds(by_round, roles, letters)),
        height=TOP + ROW * debate.rounds + 20,
        ends=(min(last), max(last)) if last else None,
        verdict=None if verdict is None else SCALE.place(verdict),
        agreed=debate.agreed,
        label=" ".join(_in_words(by_round)),
    )


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


def _discs(
    by_round: Sequence[Sequence[Statement]], roles: Sequence[str], letters: Sequence[str]
) -> Iterator[Disc]:
    """The discs of all rounds; those that are near each other stand one below the other."""
    before: dict[int, tuple[float, float]] = {}
    for number, spoken in enumerate(by_round, 1):
        placed = sorted(
            (SCALE.place(said.score), roles.index(said.role))
            for said in spoken
            if said.score is not None
        )
        for group in _near(placed):
            step = min(_STEP, (ROW - 18) / max(1, len(group) - 1))
            for place, (x, role) in enumerate(group):
                y = TOP + ROW * (number - 0.5) + step * (place - (len(group) - 1) / 2)
                yield Disc(role, number, letters[role], x, y, before.get(role))
                before[role] = (x, y)


def _near(placed: Sequence[tuple[float, int]]) -> list[list[tuple[float, int]]]:
    groups: list[list[tuple[float, int]]] = []
    for each in placed:
        if groups and each[0] - groups[-1][-1][0] < _NEAR:
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def _rounds(
    by_round: Sequence[Sequence[Statement]], roles: Sequence[str], letters: Sequence[str]
) -> Iterator[Round]:
    before: dict[str, float] = {}
    for spoken in by_round:
        said = [
            Said(place, letters[place], each, before.get(each.role), _move(each, before))
            for each in spoken
            for place in [roles.index(each.role)]
        ]
        before = {each.role: each.score for each in spoken if each.score is not None}
        yield Round(said, max(before.values()) - min(before.values()) if before else None)


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


def _in_words(by_round: Sequence[Sequence[Statement]]) -> Iterator[str]:
    """The drawing in words, a sentence for each round."""
    for number, spoken in enumerate(by_round, 1):
        scores = [f"{said.role} {said.score:g}" for said in spoken if said.score is not None]
        yield f"Round {number}: {', '.join(scores) or 'nobody has a score'}."


_ROUND, _ABOVE = 36, 58  # pixels between rounds, and above the first
_APART = 9.0  # per cent of the width between two letters


class Line(NamedTuple):
    """A role's means: its letter and name, where the letter stands, and a place by round."""

    letter: str
    role: str
    at: float
    places: list[float]


class Panel(NamedTuple):
    """The debates of a system, drawn: `agreed` of `number` ended with one score.

    `mean` is that of the last scores, and stands `at` a place.
    """

    system: str
    lines: list[Line]
    rounds: int
    ticks: list[Tick]
    height: int
    mean: float
    at: float
    label: str
    agreed: int
    number: int


def panels(campaign: StoredCampaign) -> Iterator[Panel]:
    """A panel for each system that was debated."""
    said, trials = campaign.statements, campaign.trials
    debated = trials[trials["agreed"] != ""]
    for system, own in said.astype({"role": str}).groupby("system", observed=True, sort=False):
        agreed = debated["agreed"][debated["system"] == system] == "yes"
        yield _panel(str(system), own, int(agreed.sum()), len(agreed))


def _panel(system: str, said: pd.DataFrame, agreed: int, number: int) -> Panel:
    means = _means(said)
    starts = _spread_out([SCALE.place(own[0]) for own in means.values()])
    lines = [
        Line(letter, role, at, [SCALE.place(each) for each in own])
        for letter, at, (role, own) in zip(
            letters_of(list(means)), starts, means.items(), strict=True
        )
    ]
    rounds = int(said["round"].max())
    mean = fmean([own[-1] for own in means.values()] or [0.0])
    ends = ", ".join(f"{role} {own[-1]:.0f}" for role, own in means.items())
    return Panel(
        system=system,
        lines=lines,
        rounds=rounds,
        ticks=SCALE.ticks,
        height=_ABOVE + _ROUND * (rounds - 1) + 30,
        mean=mean,
        at=SCALE.place(mean),
        label=f"Mean scores in the last round: {ends}",
        agreed=agreed,
        number=number,
    )


def _means(said: pd.DataFrame) -> dict[str, list[float]]:
    """Each role's mean by round; a debate that has ended keeps its last scores."""
    last = said.groupby(DEBATE_KEYS, observed=True)["round"].transform("max")
    by_round = {
        number: said[said["round"] == last.clip(upper=number)].groupby("role")["score"].mean()
        for number in range(1, int(last.max()) + 1)
    }
    means = pd.DataFrame(by_round).reindex(said["role"].unique()).dropna()
    return {str(role): list(own) for role, *own in means.itertuples()}


def _spread_out(places: Sequence[float]) -> list[float]:
    """The places moved apart, so that no letter covers another; the order stays."""
    moved, left = list(places), -math.inf
    for index in sorted(range(len(places)), key=lambda index: places[index]):
        moved[index] = left = max(places[index], left + _APART)
    beyond = max(0.0, left - 100.0)
    return [round(each - beyond, 2) for each in moved]
