"""A campaign's debates in small: how each ended, and the roles' mean scores by round."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from recjury.store import NEWEST_EVALUATORS, Store
from recjury.view.axes import Tick
from recjury.view.debate_chart import SCALE, letters_of
from recjury.view.queries import rows

if TYPE_CHECKING:
    import pandas as pd

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


# As the debate's rules have it (CoRE, 4.2): all who were heard give one score. Of several debates
# about a conversation, all agree or none does.
_ENDS = f"""
    WITH last AS (SELECT evaluation, MAX(round) AS round FROM statement GROUP BY evaluation)
    SELECT conversation, MIN(CASE WHEN spread = 0 AND silent = 0 THEN 1 ELSE 0 END),
           COALESCE(MAX(spread), 0)
    FROM (
        SELECT e.conversation, MAX(s.score) - MIN(s.score) AS spread,
               SUM(CASE WHEN s.status IN ('ok', 'not applicable') THEN 0 ELSE 1 END) AS silent
        FROM plan p
        JOIN {NEWEST_EVALUATORS} ce ON ce.campaign = p.campaign
        JOIN evaluation e ON e.conversation = p.conversation AND e.evaluator = ce.evaluator
            AND e.judging < ce.judgings
        JOIN last ON last.evaluation = e.id
        JOIN statement s ON s.evaluation = e.id AND s.round = last.round
        WHERE p.campaign = :campaign GROUP BY e.conversation, e.id
    ) AS debates GROUP BY conversation
"""  # noqa: S608 (a constant)
# What the scores of a role sum to in a round of those debates whose last round is `last`.
_SUMS = f"""
    WITH last AS (SELECT evaluation, MAX(round) AS round FROM statement GROUP BY evaluation)
    SELECT p.system, p.version, s.role, s.round, last.round AS last,
           SUM(s.score) AS total, COUNT(s.score) AS number
    FROM plan p
    JOIN conversation c ON c.id = p.conversation
    JOIN {NEWEST_EVALUATORS} ce ON ce.campaign = p.campaign
    JOIN evaluation e ON e.conversation = p.conversation AND e.evaluator = ce.evaluator
        AND e.judging < ce.judgings
    JOIN last ON last.evaluation = e.id
    JOIN statement s ON s.evaluation = e.id
    WHERE p.campaign = :campaign AND (:user = '' OR p.user = :user)
        AND (:corpus = '' OR p.corpus = :corpus) AND (:scenario = '' OR p.scenario = :scenario)
        AND (:evaluator = '' OR ce.name = :evaluator)
        AND (:status = '' OR :status = CASE
            WHEN c.state <> 'done' THEN c.state
            WHEN EXISTS (
                SELECT 1 FROM {NEWEST_EVALUATORS} own
                JOIN evaluation x ON x.evaluator = own.evaluator AND x.judging < own.judgings
                JOIN rating r ON r.evaluation = x.id
                WHERE own.campaign = p.campaign AND x.conversation = p.conversation
                    AND r.status IN ('unreadable', 'call failed', 'refused')
            ) THEN 'unscored'
            ELSE 'done' END)
    GROUP BY p.system, p.version, s.role, s.round, last.round
    ORDER BY MIN(s.number)
"""  # noqa: S608 (a constant)
_BY = ("user", "corpus", "scenario", "evaluator", "status")


def endings(store: Store, campaign: str) -> dict[str, tuple[str, float]]:
    """By conversation, whether its debates agreed ("yes" or "no"), and the points between roles."""
    return {
        id_: ("yes" if agreed else "no", float(spread))
        for id_, agreed, spread in rows(store, _ENDS, campaign=campaign)
    }


def panels(
    store: Store, campaign: str, trials: "pd.DataFrame", query: Mapping[str, str]
) -> Iterator[Panel]:
    """A panel for each system that was debated, by those of its `trials` that fit the query."""
    sums: dict[str, dict[str, list[_Sum]]] = {}
    versions = set(zip(trials["system"], trials["version"], strict=True))
    values = {name: query.get(name, "") for name in _BY}
    for system, version, role, *figures in rows(store, _SUMS, campaign=campaign, **values):
        if (system, version) in versions:
            sums.setdefault(system, {}).setdefault(role, []).append(_Sum(*figures))
    debated = trials[trials["agreed"] != ""]
    for system, by_role in sums.items():
        ended = debated["agreed"][debated["system"] == system]
        yield _panel(system, by_role, int((ended == "yes").sum()), len(ended))


class _Sum(NamedTuple):
    """The sum of a role's scores in `round` of those debates whose last round is `last`."""

    round: int
    last: int
    total: float | None
    number: int


def _panel(system: str, by_role: Mapping[str, Sequence[_Sum]], agreed: int, number: int) -> Panel:
    rounds = max(each.last for sums in by_role.values() for each in sums)
    means = {
        role: [_mean(sums, place) for place in range(1, rounds + 1)]
        for role, sums in by_role.items()
    }
    means = {role: own for role, own in means.items() if not any(map(math.isnan, own))}
    starts = _spread_out([SCALE.place(own[0]) for own in means.values()])
    lines = [
        Line(letter, role, at, [SCALE.place(each) for each in own])
        for letter, at, (role, own) in zip(
            letters_of(list(means)), starts, means.items(), strict=True
        )
    ]
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


def _mean(sums: Sequence[_Sum], round_: int) -> float:
    """The mean of a round; a debate that has ended keeps its last score."""
    own = [each for each in sums if each.round == min(round_, each.last)]
    number = sum(each.number for each in own)
    return sum(each.total or 0.0 for each in own) / number if number else math.nan


def _spread_out(places: Sequence[float]) -> list[float]:
    """The places moved apart, so that no letter covers another; the order stays."""
    moved, left = list(places), -math.inf
    for index in sorted(range(len(places)), key=lambda index: places[index]):
        moved[index] = left = max(places[index], left + _APART)
    beyond = max(0.0, left - 100.0)
    return [round(each - beyond, 2) for each in moved]
