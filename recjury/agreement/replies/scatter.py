"""Scatter plots of scores and ratings, as in figure 3 of PairEval (Park et al. 2024)."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.replies.rows import RatedRow
from recjury.corpora.writing import write_file
from recjury.tables.figure import PALETTE, Axis, Figure, Panel, Point, Series, Style
from recjury.tables.pictures import picture

_NOISE = 0.03  # standard deviation of what is added to ratings, which would overlap otherwise
_MODEL, _HUMAN, *_, _LINE = PALETTE
_FEWEST = 3
_NO_FILE_NAME = re.compile(r"[^\w.*+-]+")  # a scorer may be named after a model: "judge/main"


def write_scatter_plots(
    rows: Sequence[RatedRow],
    scores: Mapping[str, Sequence[float | None]],
    folder: Path,
    *,
    seed: int = 0,
) -> int:
    """Write `{set}-{scorer}.svg` for each set and scorer whose scores vary; return their number.

    Raises DataError if the folder cannot be written.
    """
    return sum(
        _write(folder / f"{name}-{_NO_FILE_NAME.sub('-', scorer)}.svg", own, kept, seed)
        for name in dict.fromkeys(row.set for row in rows)
        for scorer, given in scores.items()
        for own, kept in [_of_set(rows, given, name)]
    )


def _of_set(
    rows: Sequence[RatedRow], scores: Sequence[float | None], name: str
) -> tuple[list[RatedRow], NDArray[np.float64]]:
    kept = [
        (row, score)
        for row, score in zip(rows, scores, strict=True)
        if row.set == name and score is not None
    ]
    return [row for row, _ in kept], np.array([score for _, score in kept], dtype=float)


def _write(path: Path, rows: Sequence[RatedRow], scores: NDArray[np.float64], seed: int) -> bool:
    """Whether there was something to plot."""
    if len(rows) < _FEWEST or np.ptp(scores) == 0:
        return False
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
    scorer = path.stem.removeprefix(f"{rows[0].set}-")
    panel = Panel(
        marks=tuple(marks),
        x=Axis(label="mean rating by people"),
        y=Axis(label=scorer),
        title=f"{rows[0].set}, n = {len(rows)}",
    )
    title = f"{rows[0].set}: {scorer} and ratings by people"
    write_file(path, [picture(Figure(title=title, panels=(panel,), width=288, height=190))])
    return True
