"""Figures of the analyses: rankings by few conversations, systems by metric and turn, biases."""

import math
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from recjury.figures import INK, PALETTE, draw
from recjury.safe_text import printable
from recjury.tables import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "os^Dv"
_RAYS = 3  # a radar with fewer metrics has no area
_NAME = 30  # characters


class Line(NamedTuple):
    """A row of `interval_rows`: a value with its interval; the value is None if it is undefined."""

    name: str
    value: float | None
    low: float | None
    high: float | None


def sample_plot(
    metrics: Mapping[str, Mapping[int, Estimate]], people: Mapping[int, Estimate]
) -> str:
    """Spearman's rho by the conversations of each system, with the range of the draws.

    By metric and size; `people` is empty unless they rank the systems.
    """

    def paint(figure: "Figure") -> None:
        axes = figure.add_subplot()
        for number, (metric, curve) in enumerate(metrics.items()):
            _curve(axes, list(curve), list(curve.values()), metric, number)
        if people:
            _curve(axes, list(people), list(people.values()), "people", None)
        axes.set_xlabel("conversations of each system")
        by = "people" if people else "all scores"
        axes.set_ylabel(f"Spearman's rho with the ranking by {by}")
        axes.set_ylim(min(0.0, axes.get_ylim()[0]), 1.02)
        axes.legend(loc="lower right")

    return draw(paint, width=6, height=3.8, title="Rankings from few conversations")


def radar_plot(panels: Mapping[str, Mapping[str, Mapping[str, Estimate]]]) -> str | None:
    """By panel ("scores", "people"): each system's means as shares of the scales.

    None for fewer than three metrics, which have no area.
    """
    metrics = list(dict.fromkeys(m for own in panels.values() for row in own.values() for m in row))
    if len(metrics) < _RAYS:
        return None
    top = max(row[m].value or 0.0 for own in panels.values() for row in own.values() for m in row)
    top = 1.05 * top or 1.0  # one scale for all panels
    angles = [2 * math.pi * place / len(metrics) for place in range(len(metrics))]

    def paint(figure: "Figure") -> None:
        several = figure.subplots(1, len(panels), squeeze=False, subplot_kw={"polar": True})[0]
        for axes, (title, systems) in zip(several, panels.items(), strict=True):
            for number, (system, row) in enumerate(systems.items()):
                values = [_or(row[m].value if m in row else None, math.nan) for m in metrics]
                axes.plot(
                    [*angles, angles[0]],
                    [*values, values[0]],
                    color=_colour(number),
                    marker=_marker(number),
                    markersize=3,
                    label=_name(system),
                )
            names = [_ray(each) for each in metrics]
            axes.set_xticks(angles, names, size=7)
            axes.tick_params(pad=6)
            axes.set_yticks([tick for tick in (0.2, 0.4, 0.6, 0.8, 1.0) if tick < top])
            axes.set_ylim(0, top)
            axes.tick_params(axis="y", labelsize=7)
            axes.set_title(f"{title}, share of the scale", pad=20)
        figure.legend(
            *several[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8
        )

    return draw(paint, width=4.6 * len(panels), height=4.8, title="Systems by metric")


def turn_plot(metrics: Mapping[str, Mapping[str, Sequence[Estimate]]]) -> str:
    """By metric, a panel with each system's mean score of the first, second, ... system turn."""

    def paint(figure: "Figure") -> None:
        several = figure.subplots(1, len(metrics), squeeze=False)[0]
        for axes, (metric, systems) in zip(several, metrics.items(), strict=True):
            for number, (system, means) in enumerate(systems.items()):
                _curve(axes, range(1, len(means) + 1), means, system, number)
            axes.set_title(_name(metric))
            axes.set_xlabel("system turn")
            axes.set_ylabel("mean score")
            axes.legend(fontsize=7)

    return draw(paint, width=4.6 * len(metrics), height=3.4, title="Scores by turn")


def interval_rows(rows: Sequence[Line], *, title: str, axis: str) -> str:
    """Values with their intervals, one under the other."""

    def paint(figure: "Figure") -> None:
        axes = figure.add_subplot()
        for place, row in enumerate(rows):
            if row.value is None:
                continue
            axes.plot([row.value], [-place], "o", color=PALETTE[0])
            if row.low is not None and row.high is not None:
                axes.plot([row.low, row.high], [-place, -place], color=PALETTE[0])
        axes.axvline(0, color=INK, linewidth=0.6)
        axes.set_yticks([-place for place in range(len(rows))], [printable(r.name) for r in rows])
        axes.set_ylim(-len(rows) + 0.4, 0.6)
        axes.set_xlabel(axis)
        axes.set_title(printable(title), loc="left")

    return draw(paint, width=7, height=1 + 0.24 * len(rows), title=printable(title))


def _curve(
    axes: "Axes",
    x: Sequence[int],
    values: Sequence[Estimate],
    name: str,
    number: int | None,
) -> None:
    """A line with the band between its bounds; without a number, in the colour of the page."""
    colour = INK if number is None else _colour(number)
    marker = "x" if number is None else _marker(number)
    means = [math.nan if each.value is None else each.value for each in values]
    lows = [_or(each.low, mean) for each, mean in zip(values, means, strict=True)]
    highs = [_or(each.high, mean) for each, mean in zip(values, means, strict=True)]
    axes.plot(x, means, color=colour, marker=marker, markersize=3.5, label=_name(name))
    axes.fill_between(x, lows, highs, color=colour, alpha=0.12, linewidth=0)


def _ray(metric: str) -> str:
    """A metric's name without its evaluator, a word a line where it is long."""
    return fill(_name(metric.rpartition(".")[2]).replace("_", " "), 14, break_long_words=False)


def _or(bound: float | None, value: float) -> float:
    return value if bound is None else bound


def _colour(number: int) -> str:
    return PALETTE[number % len(PALETTE)]


def _marker(number: int) -> str:
    return _MARKERS[number // len(PALETTE) % len(_MARKERS)]


def _name(text: str) -> str:
    return printable(text)[:_NAME]
