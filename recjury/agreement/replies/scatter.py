"""Scatter plots of scores and ratings, as in figure 3 of PairEval (Park et al. 2024)."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.replies.rows import RatedRow
from recjury.tables.figure import PALETTE, Axis, Figure, FigurePanel, Point, Series, Style

_NOISE = 0.03  # standard deviation of what is added to ratings, which would overlap otherwise
_MODEL, _HUMAN, *_, _LINE = PALETTE
_FEWEST = 3
_NO_FILE_NAME = re.compile(r"[^\w.*+-]+")  # a scorer may be named after a model: "judge/main"


def scatter_plots(
    rows: Sequence[RatedRow], scores: Mapping[str, Sequence[float | None]], *, seed: int = 0
) -> dict[str, Figure]:
    """`{set}-{scorer}` for each set and scorer whose scores vary."""
    plots: dict[str, Figure] = {}
    for name in dict.fromkeys(row.set for row in rows):
        for scorer, given in scores.items():
            own, kept = _of_set(rows, given, name)
            if len(own) >= _FEWEST and np.ptp(kept):
                stem = f"{name}-{_NO_FILE_NAME.sub('-', scorer)}"
                plots[stem] = _plot(scorer, own, kept, seed)
    return plots


def _of_set(
    rows: Sequence[RatedRow], scores: Sequence[float | None], name: str
) -> tuple[list[RatedRow], NDArray[np.float64]]:
    kept = [
        (row, score)
        for row, score in zip(rows, scores, strict=True)
        if row.set == name and score is not None
    ]
    return [row for row, _ in kept], np.array([score for _, score in kept], dtype=float)


def _plot(scorer: str, rows: Sequence[RatedRow], scores: NDArray[np.float64], seed: int) -> Figure:
    ratings = np.array([row.target for row in rows])
    shown = ratings + np.random.default_rng(seed).normal(0, _NOISE, len(rows))
    people = np.array([row.human for row in rows])
    has_legend = people.any() and not people.all()
    marks = [
        Series(
            tuple(map(Point, shown[chosen].tolist(), scores[chosen].tolist())),
            who if has_legend else "",
            Style(color=color, width=0, size=3.5, opacity=0.5),
        )
        for chosen, color, who in ((~people, _MODEL, "models"), (people, _HUMAN, "people"))
    ]
    slope, start = np.polyfit(ratings, scores, 1) if np.ptp(ratings) else (0.0, scores.mean())
    ends = (float(ratings.min()), float(ratings.max()))
    line = tuple(Point(end, float(start + slope * end)) for end in ends)
    marks.append(Series(line, style=Style(color=_LINE, marker="")))
    panel = FigurePanel(
        marks=tuple(marks),
        x=Axis(label="mean rating by people"),
        y=Axis(label=scorer),
        title=f"{rows[0].set}, n = {len(rows)}",
    )
    title = f"{rows[0].set}: {scorer} and ratings by people"
    return Figure(title=title, panels=(panel,), width=288, height=190)
