"""A campaign's debates in small: the roles' mean scores by round, for each system."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recjury.results import statements
from recjury.store import Store
from recjury.view.axes import Axis, Tick

ROW, TOP = 36, 58  # pixels between rounds, and above the first
_SCALE = Axis(0, 100)


class Line(NamedTuple):
    """A role's means: its letter, and a place for each round."""

    letter: str
    role: str
    places: list[float]


class Panel(NamedTuple):
    """The debates of a system: `agreed` of `number` ended with four equal scores."""

    system: str
    lines: list[Line]
    rounds: Sequence[int]
    ticks: list[Tick]
    agreed: int
    number: int
    mean: float
    label: str
    height: int


def panels(store: Store, campaign: str) -> Iterator[Panel]:
    """A panel for each system whose conversations were debated."""
    import pandas as pd

    said = statements(store, campaign)
    said = said[said["score"].notna()]
    for system, own in said.groupby("system", observed=True, sort=False):
        keys = [own["conversation"], own["evaluator"], own["judging"]]
        last_round = own.groupby(["conversation", "evaluator", "judging"])["round"].transform("max")
        last = own[own["round"] == last_round]
        by_debate = last.groupby(["conversation", "evaluator", "judging"])["score"]
        # A debate that has ended keeps its last scores.
        wide = own.pivot_table("score", [*(key.name for key in keys), "role"], "round").ffill(
            axis=1
        )
        means: pd.DataFrame = wide.groupby(level="role").mean()
        roles = list(dict.fromkeys(own["role"]))
        lines = [
            Line(_letter(role), role, [_SCALE.place(float(v)) for v in means.loc[role]])
            for role in roles
        ]
        numbers = list(range(1, means.shape[1] + 1))
        ends = ", ".join(f"{role} {means.loc[role].iloc[-1]:.0f}" for role in roles)
        yield Panel(
            str(system),
            lines,
            numbers,
            _SCALE.ticks,
            int((by_debate.nunique() == 1).sum()),
            by_debate.ngroups,
            float(by_debate.mean().mean()),
            f"Mean scores in the last round: {ends}",
            TOP + ROW * (len(numbers) - 1) + 30,
        )


def _letter(role: str) -> str:
    """U for the Common User, else the first letter."""
    return "U" if role.endswith("User") else role[:1]
