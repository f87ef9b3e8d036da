"""What a report draws. Colours are told apart by colour-blind readers, on light and on dark."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recjury.records import OVERALL_SCALE, Dimension, Factor, Role
from recjury.report.excerpt import one_line
from recjury.report.rounds import RoundMeans
from recjury.report.summary import SystemSummary
from recjury.report.svg import INK, draw
from recjury.report.tables import coverage_text, hyphenated
from recjury.stats import Summary
from recjury.stats.resampling import Interval
from recjury.store import RECALL_AT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, without black and yellow, which vanish on one of the two grounds.
_BLUE, _SKY, _ORANGE, _GREEN, _PURPLE = "#0072B2", "#56B4E9", "#E69F00", "#009E73", "#CC79A7"
_VERMILION = "#D55E00"
_ROLES = {
    Role.COMMON_USER: (_BLUE, "o", "-"),
    Role.DOMAIN_EXPERT: (_VERMILION, "s", "--"),
    Role.LINGUIST: (_GREEN, "^", "-."),
    Role.HCI_EXPERT: (_PURPLE, "D", ":"),
}
_RECALLS = dict(zip(RECALL_AT, (_BLUE, _SKY, _ORANGE), strict=True))
_NAME = 26  # characters of a system's name
_PANELS = 3  # debates beside each other


def factor_map(systems: Mapping[str, SystemSummary]) -> str:
    """Systems by factors as SVG: mean scores as colours and numbers, with coverage below 100 %."""

    def paint(figure: "Figure") -> None:
        axes = figure.subplots()
        for row, summary in enumerate(systems.values()):
            for column, mean in enumerate(summary.factors.values()):
                _cell(axes, row, column, mean)
        _factor_axes(axes, len(systems))
        _system_axis(axes, systems)

    height = 1.6 + 0.48 * len(systems)
    return draw(paint, width=10.5, height=height, title="Mean factor scores by system")


def _cell(axes: "Axes", row: int, column: int, mean: Summary) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    left = _left(column)
    place = (left - 0.48, row - 0.46)
    if mean.mean is None:
        empty = Rectangle(place, 0.96, 0.92, fill=False, edgecolor=INK, linewidth=0.4, alpha=0.4)
        axes.add_patch(empty)
        axes.text(left, row, "–", ha="center", va="center", alpha=0.6)
        return
    share = mean.mean / 4
    axes.add_patch(Rectangle(place, 0.96, 0.92, facecolor=colormaps["cividis"](share), linewidth=0))
    ink = "#ffffff" if share < 0.5 else "#111111"
    partly = mean.coverage < 1
    axes.text(
        left, row - 0.13 * partly, f"{mean.mean:.2f}", ha="center", va="center", color=ink, size=9.5
    )
    if partly:
        said = coverage_text(mean.coverage)
        axes.text(left, row + 0.25, said, ha="center", va="center", color=ink, size=7)


def _left(column: int) -> float:
    """Where a factor's column stands: a gap lies between dimensions."""
    return column + 0.22 * (column // 3)


def _factor_axes(axes: "Axes", rows: int) -> None:
    axes.set_xlim(-0.6, _left(11) + 0.6)
    axes.set_ylim(rows - 0.45, -0.5)
    names = [hyphenated(factor).replace(" ", "\n").replace("\xad", "-\n") for factor in Factor]
    axes.set_xticks([_left(column) for column in range(12)], names, size=7.5, linespacing=1.05)
    axes.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, length=0, pad=4)
    axes.spines[:].set_visible(False)
    for number, dimension in enumerate(Dimension):
        middle = _left(3 * number + 1)
        axes.annotate(
            dimension.value,
            (middle, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 45),
            textcoords="offset points",
            ha="center",
            size=9,
            weight="bold",
        )


def _system_axis(axes: "Axes", systems: Mapping[str, object]) -> None:
    axes.set_yticks(range(len(systems)), [one_line(name, _NAME) for name in systems])
    axes.tick_params(axis="y", length=0)


def overall_plot(
    systems: Mapping[str, SystemSummary], intervals: Mapping[str, Interval | None]
) -> str:
    """Mean verdicts with their 95 % intervals as SVG; a system without any has an empty row."""

    def paint(figure: "Figure") -> None:
        axes = figure.subplots()
        for row, (name, summary) in enumerate(systems.items()):
            _overall_row(axes, row, summary.overall, intervals.get(name))
        low, high = OVERALL_SCALE
        axes.set_xlim(low - 1, high + 1)
        axes.set_ylim(len(systems) - 0.5, -0.5)
        _system_axis(axes, systems)
        _bars_axis(axes, "overall, 0 to 100")

    return draw(
        paint, width=6, height=0.75 + 0.4 * len(systems), title="Overall score with 95 % intervals"
    )


def _overall_row(axes: "Axes", row: int, overall: Summary, interval: Interval | None) -> None:
    if overall.mean is None:
        axes.text(1, row, "no verdict could be scored", va="center", alpha=0.7, size=8.5)
        return
    if interval is not None:
        axes.plot([interval.low, interval.high], [row, row], color=_BLUE, linewidth=2.2)
        for end in interval:
            axes.plot([end, end], [row - 0.13, row + 0.13], color=_BLUE, linewidth=1.2)
    axes.plot([overall.mean], [row], "o", color=_BLUE, markersize=6.5)
    axes.text(overall.mean, row - 0.2, f"{overall.mean:.1f}", ha="center", va="bottom", size=8)


def _bars_axis(axes: "Axes", label: str) -> None:
    axes.set_xlabel(label)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=INK, alpha=0.15, linewidth=0.6)
    axes.set_axisbelow(True)


def recall_plot(systems: Mapping[str, SystemSummary]) -> str:
    """Recall@k of the session list as SVG: a group of bars per system."""

    def paint(figure: "Figure") -> None:
        axes = figure.subplots()
        for row, summary in enumerate(systems.values()):
            for place, k in enumerate(RECALL_AT):
                _recall_bar(axes, row + 0.27 * (place - 1), k, summary.recall[k])
        partly = any(each.coverage < 1 for s in systems.values() for each in s.recall.values())
        axes.set_xlim(0, 1.2 if partly else 1.08)
        axes.set_ylim(len(systems) - 0.5, -0.5)
        _system_axis(axes, systems)
        _bars_axis(axes, "share of conversations with a target in the first k")
        handles = [axes.barh(0, 0, color=color, label=f"k = {k}") for k, color in _RECALLS.items()]
        figure.legend(handles=handles, loc="outside upper right", ncols=3, fontsize=8.5)

    return draw(paint, width=6, height=1.05 + 0.6 * len(systems), title="Recall@k by system")


def _recall_bar(axes: "Axes", y: float, k: int, recall: Summary) -> None:
    share = recall.mean or 0.0
    axes.barh(y, share, height=0.24, color=_RECALLS[k], linewidth=0)
    shown = "–" if recall.mean is None else f"{share:.2f}"
    if recall.mean is not None and recall.coverage < 1:
        shown += f" ({coverage_text(recall.coverage)})"
    axes.text(share + 0.01, y, shown, va="center", size=7.5)


def debate_plot(systems: Mapping[str, RoundMeans]) -> str:
    """Each role's mean score after every round as SVG, a panel per system.

    A debate that has ended counts in later rounds with its last scores, so that a line never
    moves only because other debates are left.
    """
    columns = min(_PANELS, max(1, len(systems)))
    rows = math.ceil(len(systems) / columns)

    def paint(figure: "Figure") -> None:
        grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
        panels: Sequence[Axes] = list(grid.flat)
        for axes, (name, means) in zip(panels, systems.items(), strict=False):
            _debate_panel(axes, name, means)
        for spare in panels[len(systems) :]:
            spare.set_visible(False)
        for row in grid:
            row[0].set_ylabel("mean score, 0 to 100")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=4, fontsize=8.5)

    width = 3.4 * columns + 0.3
    return draw(
        paint, width=max(width, 5.6), height=0.5 + 2.5 * rows, title="Debate scores by round"
    )


def _debate_panel(axes: "Axes", name: str, means: RoundMeans) -> None:
    rounds = range(1, len(means.debating) + 1)
    for role, (color, marker, line) in _ROLES.items():
        heights = [math.nan if mean is None else mean for mean in means.scores[role]]
        axes.plot(
            rounds, heights, color=color, marker=marker, linestyle=line, markersize=4.5, label=role
        )
    ticks = [f"{n}\nn = {open_}" for n, open_ in zip(rounds, means.debating, strict=True)]
    axes.set_xticks(list(rounds), ticks)
    axes.set_xlim(0.7, len(means.debating) + 0.3)
    axes.set_ylim(-3, 103)
    axes.set_title(one_line(name, _NAME), loc="left")
    axes.set_xlabel("round, and debates that held it", size=8.5)
    axes.grid(axis="y", color=INK, alpha=0.15, linewidth=0.6)
