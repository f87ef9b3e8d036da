"""The plots of a report. Colour-blind readers can distinguish the colours, on light and dark."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from statistics import fmean
from textwrap import fill
from typing import TYPE_CHECKING

from recjury.figures import INK, PALETTE, draw
from recjury.records import Role
from recjury.report.example_picks import share
from recjury.report.excerpt import one_line
from recjury.report.rounds import RoundMeans
from recjury.report.table_cells import hyphenated, partly
from recjury.results import Measure, MetricSummary, Tally

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREEN, _PURPLE, _SKY, _VERMILION = PALETTE
_ROLES = {
    Role.COMMON_USER: (_BLUE, "o", "-"),
    Role.DOMAIN_EXPERT: (_VERMILION, "s", "--"),
    Role.LINGUIST: (_GREEN, "^", "-."),
    Role.HCI_EXPERT: (_PURPLE, "D", ":"),
}
_BARS = (_BLUE, _SKY, _ORANGE, _GREEN, _PURPLE, _VERMILION)
_GAP = 0.22  # between groups of columns
_NAME = 26  # characters of a system's name
_PANELS = 3  # panels of debates in one row


def score_map(systems: Mapping[str, Tally], measures: Sequence[Measure]) -> str:
    """Systems by bounded measures as SVG: means as colours and numbers, with their coverage if it
    is below 100 %. Groups are divided by a gap."""
    groups = [each.metric.group for each in measures]
    lefts = [
        place + _GAP * sum(one != other for one, other in pairwise(groups[: place + 1]))
        for place in range(len(measures))
    ]

    def paint(figure: "Figure") -> None:
        axes = figure.subplots()
        for row, tally in enumerate(systems.values()):
            for left, measure in zip(lefts, measures, strict=True):
                _cell(axes, row, left, measure, tally.summary(measure.id))
        axes.set_xlim(-0.6, lefts[-1] + 0.6)
        axes.set_ylim(len(systems) - 0.45, -0.5)
        _measure_axis(axes, lefts, measures)
        _system_axis(axes, systems)

    width, height = 2 + 0.67 * lefts[-1] + 0.67, 1.6 + 0.48 * len(systems)
    return draw(paint, width=max(width, 4), height=height, title="Mean scores by system")


def _cell(axes: "Axes", row: int, left: float, measure: Measure, mean: MetricSummary) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    place = (left - 0.48, row - 0.46)
    if mean.mean is None:
        empty = Rectangle(place, 0.96, 0.92, fill=False, edgecolor=INK, linewidth=0.4, alpha=0.4)
        axes.add_patch(empty)
        axes.text(left, row, "–", ha="center", va="center", alpha=0.6)
        return
    good, said = share(measure, mean.mean), partly(mean, measure.metric)
    axes.add_patch(Rectangle(place, 0.96, 0.92, facecolor=colormaps["cividis"](good), linewidth=0))
    ink = "#ffffff" if good < 0.5 else "#111111"
    number = f"{mean.mean:.{measure.metric.digits}f}"
    middle = row - 0.13 * (said is not None)
    axes.text(left, middle, number, ha="center", va="center", color=ink, size=9.5)
    if said is not None:
        axes.text(left, row + 0.25, said, ha="center", va="center", color=ink, size=7)


def _measure_axis(axes: "Axes", lefts: Sequence[float], measures: Sequence[Measure]) -> None:
    names = [
        hyphenated(each.metric.title).replace(" ", "\n").replace("\xad", "-\n") for each in measures
    ]
    axes.set_xticks(lefts, names, size=7.5, linespacing=1.05)
    axes.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, length=0, pad=4)
    axes.spines[:].set_visible(False)
    by_group = groupby(zip(lefts, measures, strict=True), key=lambda pair: pair[1].metric.group)
    for group, columns in by_group:
        places = [left for left, _ in columns]
        axes.annotate(
            fill(one_line(group, 60), 10 * len(places)),
            (fmean(places), 1),
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


def interval_plot(systems: Mapping[str, Tally], measure: Measure) -> str:
    """A bounded measure's means with their 95 % intervals as SVG; a system without any has an
    empty row."""
    metric, title = measure.metric, one_line(measure.metric.title, 60)
    assert metric.high is not None
    low, high = metric.low, metric.high

    def paint(figure: "Figure") -> None:
        axes = figure.subplots()
        for row, tally in enumerate(systems.values()):
            _interval_row(axes, row, tally, measure)
        margin = (high - low) / 100
        axes.set_xlim(low - margin, high + margin)
        axes.set_ylim(len(systems) - 0.5, -0.5)
        _system_axis(axes, systems)
        _bars_axis(axes, f"{title}, {low:g} to {high:g}")

    height = 0.75 + 0.4 * len(systems)
    return draw(paint, width=6, height=height, title=f"{title} with 95 % intervals")


def _interval_row(axes: "Axes", row: int, tally: Tally, measure: Measure) -> None:
    mean, interval = tally.summary(measure.id).mean, tally.interval(measure.id)
    if mean is None:
        axes.text(measure.metric.low, row, "none could be scored", va="center", alpha=0.7, size=8.5)
        return
    if interval is not None:
        axes.plot([interval.low, interval.high], [row, row], color=_BLUE, linewidth=2.2)
        for end in interval:
            axes.plot([end, end], [row - 0.13, row + 0.13], color=_BLUE, linewidth=1.2)
    axes.plot([mean], [row], "o", color=_BLUE, markersize=6.5)
    number = f"{mean:.{measure.metric.digits}f}"
    axes.text(mean, row - 0.2, number, ha="center", va="bottom", size=8)


def _bars_axis(axes: "Axes", label: str) -> None:
    axes.set_xlabel(label)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=INK, alpha=0.15, linewidth=0.6)
    axes.set_axisbelow(True)


def bars_plot(systems: Mapping[str, Tally], measures: Sequence[Measure]) -> str:
    """Measures from 0 to 1 as SVG: a group of bars per system."""
    shown = measures[: len(_BARS)]
    middle, step = (len(shown) - 1) / 2, 0.81 / len(shown)

    def paint(figure: "Figure") -> None:
        axes = figure.subplots()
        for row, tally in enumerate(systems.values()):
            for place, (measure, color) in enumerate(zip(shown, _BARS, strict=False)):
                y = row + step * (place - middle)
                _bar(axes, y, 0.9 * step, color, measure, tally.summary(measure.id))
        axes.set_xlim(0, 1.2)
        axes.set_ylim(len(systems) - 0.5, -0.5)
        axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
        _system_axis(axes, systems)
        _bars_axis(axes, "mean, 0 to 1")
        handles = [
            axes.barh(0, 0, color=color, label=one_line(each.metric.title, _NAME))
            for each, color in zip(shown, _BARS, strict=False)
        ]
        figure.legend(handles=handles, loc="outside upper right", ncols=3, fontsize=8.5)

    height = 1.05 + 0.2 * len(shown) * len(systems)
    return draw(paint, width=6, height=height, title="Means from 0 to 1 by system")


def _bar(
    axes: "Axes", y: float, height: float, color: str, measure: Measure, mean: MetricSummary
) -> None:
    axes.barh(y, mean.mean or 0.0, height=height, color=color, linewidth=0)
    said = "–" if mean.mean is None else f"{mean.mean:.2f}"
    coverage = partly(mean, measure.metric)
    if mean.mean is not None and coverage:
        said += f" ({coverage})"
    axes.text((mean.mean or 0.0) + 0.01, y, said, va="center", size=7.5)


def debate_plot(systems: Mapping[str, RoundMeans]) -> str:
    """Each role's mean score after every round as SVG, a panel per system.

    A debate that has ended counts in later rounds with its last scores, so a line moves only
    because a role changed its score.
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
