"""A campaign's debates in small: how each ended, and the roles' mean scores by round."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

import pandas as pd

from recjury.results import StoredCampaign
from recjury.results.trials import DEBATE_KEYS
from recjury.view.axes import Tick
from recjury.view.debate_chart import SCALE, letters_of

ROW, TOP = 36, 58  # pixels between rounds, and above the first
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
        height=TOP + ROW * (rounds - 1) + 30,
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
