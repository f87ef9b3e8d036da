"""The papers' figures, drawn from what a recipe found."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from recjury.results import Findings, plot, save_figure

_SIDE, _BAR, _EDGE = 4.2, 0.16, 0.6  # inches: of a matrix, a bar, and around a panel


def draw(findings: Findings, path: Path) -> None:
    """Draw matrices, shares or means. Raises UserError if there is nothing of the kind."""
    if "matrices" in findings.data:
        save_figure(path, lambda: _matrices(findings.data["matrices"]))
    elif findings.data.get("rows") and "share" in findings.data["rows"][0]:
        save_figure(path, lambda: _shares(findings.data["rows"]))
    else:
        plot(findings, path)


def _matrices(matrices: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Any:
    """Correlations of factors in hundredths, a matrix for each rater (CoRE, figure 6)."""
    from matplotlib.figure import Figure

    columns = min(2, len(matrices))
    rows = -(-len(matrices) // columns)
    figure = Figure((_SIDE * columns, _SIDE * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axis, (rater, matrix) in zip(axes, matrices.items(), strict=False):
        names = list(matrix)
        values = [[matrix[one][other] for other in names] for one in names]
        axis.imshow(values, vmin=-1.5, vmax=1.5, cmap="RdBu_r")
        axis.set_title(rater)
        axis.grid(visible=False)
        axis.set_xticks(range(len(names)), names, rotation=90)
        axis.set_yticks(range(len(names)), names)
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                if value == value:
                    axis.text(x, y, f"{100 * value:.0f}", ha="center", va="center", fontsize=5)
    for axis in axes[len(matrices) :]:
        axis.set_axis_off()
    return figure


def _shares(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Shares of labels by system, a panel for each aspect (FACE, figure 2)."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    def by(key: str, of: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
        return {name: list(own) for name, own in groupby(of, lambda row: str(row[key]))}

    aspects = by("metric", rows)
    systems = {aspect: by("system", own) for aspect, own in aspects.items()}
    heights = [_EDGE + _BAR * len(own) for own in systems.values()]
    figure = Figure((8, sum(heights)), layout="constrained")
    axes = figure.subplots(len(aspects), 1, height_ratios=heights, squeeze=False)[:, 0]
    for axis, (aspect, own) in zip(axes, systems.items(), strict=True):
        highest = max(row["score"] for row in aspects[aspect]) or 1
        for y, labels in enumerate(own.values()):
            left = 0.0
            for row in labels:
                colour = colormaps["Blues"](0.1 + 0.5 * row["score"] / highest)
                axis.barh(y, row["share"], left=left, color=colour, edgecolor="white")
                axis.text(left + row["share"] / 2, y, f"{row['score']:g}", ha="center", va="center")
                left += row["share"]
        axis.set_title(aspect, loc="left")
        axis.set_yticks(range(len(own)), list(own))
        axis.set_xlim(0, 1)
        axis.invert_yaxis()
    return figure
