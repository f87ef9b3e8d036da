"""Scatter plots of scores and ratings, as in figure 3 of PairEval (Park et al. 2024)."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.replies.rows import RatedRow
from recjury.errors import DataError

_NOISE = 0.03  # standard deviation of what is added to ratings, which would overlap otherwise
_MODEL, _HUMAN = "#0072B2", "#E69F00"
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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return sum(
            _write(folder / f"{name}-{_NO_FILE_NAME.sub('-', scorer)}.svg", own, kept, seed)
            for name in dict.fromkeys(row.set for row in rows)
            for scorer, given in scores.items()
            for own, kept in [_of_set(rows, given, name)]
        )
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=folder) from None


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
    axes.set_ylabel(path.stem.removeprefix(f"{rows[0].set}-"))
    axes.set_title(f"{rows[0].set}, n = {len(rows)}", size=10)
    if people.any() and not people.all():
        axes.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    return True
