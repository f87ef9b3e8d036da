"""Scatter plots of scores and ratings, as in figure 3 of PairEval (Park et al. 2024)."""

import re
from collections.abc import Mapping, Sequence
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.replies.rows import RatedRow

_NOISE = 0.03  # standard deviation of what is added to ratings, which would overlap otherwise
_MODEL, _HUMAN = "#0072B2", "#E69F00"
_FEWEST = 3
_NO_FILE_NAME = re.compile(r"[^\w.*+-]+")  # a scorer may be named after a model: "judge/main"


def scatter_plots(
    rows: Sequence[RatedRow], scores: Mapping[str, Sequence[float | None]], *, seed: int = 0
) -> dict[str, bytes]:
    """`{set}-{scorer}.svg` for each set and scorer whose scores vary."""
    plots: dict[str, bytes] = {}
    for name in dict.fromkeys(row.set for row in rows):
        for scorer, given in scores.items():
            own, kept = _of_set(rows, given, name)
            if len(own) >= _FEWEST and np.ptp(kept):
                stem = f"{name}-{_NO_FILE_NAME.sub('-', scorer)}"
                plots[f"{stem}.svg"] = _plot(scorer, own, kept, seed)
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


def _plot(scorer: str, rows: Sequence[RatedRow], scores: NDArray[np.float64], seed: int) -> bytes:
    from matplotlib.figure import Figure

    ratings = np.array([row.target for row in rows])
    shown = ratings + np.random.default_rng(seed).normal(0, _NOISE, len(rows))
    people = np.array([row.human for row in rows])
    figure = Figure(figsize=(4, 3.2), layout="constrained")
    axes = figure.subplots()
    for chosen, colour, who in ((~people, _MODEL, "models"), (people, _HUMAN, "people")):
        if chosen.any():
            axes.scatter(shown[chosen], scores[chosen], s=9, alpha=0.5, color=colour, label=who)
    slope, start = np.polyfit(ratings, scores, 1) if np.ptp(ratings) else (0.0, scores.mean())
    ends = np.array([ratings.min(), ratings.max()])
    axes.plot(ends, start + slope * ends, color="#D55E00")
    axes.set_xlabel("mean rating by people")
    axes.set_ylabel(scorer)
    axes.set_title(f"{rows[0].set}, n = {len(rows)}", size=10)
    if people.any() and not people.all():
        axes.legend(fontsize=8)
    drawn = BytesIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
