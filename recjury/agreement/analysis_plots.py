"""Figures of the analyses: rankings by few conversations, systems by metric and turn, biases."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import fill
from typing import NamedTuple

from recjury.records import Estimate
from recjury.tables.figure import (
    INK,
    Axis,
    Figure,
    FigurePanel,
    Point,
    Series,
    interval,
    rows,
    style,
    vertical,
)
from recjury.tables.radar import radar

_RAYS = 3  # a radar with fewer metrics has no area
_NAME = 30  # characters
_PANEL = 330  # points


class Line(NamedTuple):
    """A row of `interval_rows`: a value with its interval; the value is None if it is undefined."""

    name: str
    value: float | None
    low: float | None
    high: float | None


def sample_plot(
    metrics: Mapping[str, Mapping[int, Estimate]], people: Mapping[int, Estimate]
) -> Figure:
    """Spearman's rho by the conversations of each system, with the range of the draws.

    By metric and size; `people` is empty unless they rank the systems.
    """
    marks = [_curve(curve, name, number) for number, (name, curve) in enumerate(metrics.items())]
    if people:
        marks.append(replace(_curve(people, "people", 0), style=replace(style(0), color=INK)))
    lows = [point.low for mark in marks for point in mark.points if point.low is not None]
    by = "people" if people else "all scores"
    panel = FigurePanel(
        marks=tuple(marks),
        x=Axis(label="conversations of each system"),
        y=Axis(label=f"Spearman's rho with {by}", low=min([0.0, *lows]), high=1.02),
    )
    return Figure(title="Rankings from few conversations", panels=(panel,))


def radar_plot(panels: Mapping[str, Mapping[str, Mapping[str, Estimate]]]) -> Figure | None:
    """By panel ("scores", "people"): each system's means as shares of the scales.

    None for fewer than three metrics, which have no area.
    """
    metrics = list(dict.fromkeys(m for own in panels.values() for row in own.values() for m in row))
    if len(metrics) < _RAYS:
        return None
    top = max(row[m].value or 0.0 for own in panels.values() for row in own.values() for m in row)
    top = 1.05 * top or 1.0  # one scale for all panels
    rays = [_ray(metric) for metric in metrics]
    several = []
    for title, systems in panels.items():
        values = {
            system[:_NAME]: [row[m].value if m in row else None for m in metrics]
            for system, row in systems.items()
        }
        several.append(radar(values, rays, top=top, title=f"{title}, share of the scale"))
    width = _PANEL * len(panels)
    return Figure(title="Systems by metric", panels=tuple(several), width=width, height=220)


def turn_plot(metrics: Mapping[str, Mapping[str, Sequence[Estimate]]]) -> Figure:
    """By metric, a panel with each system's mean score of the first, second, ... system turn."""
    panels = tuple(
        FigurePanel(
            marks=tuple(
                _curve(dict(enumerate(means, start=1)), system, number)
                for number, (system, means) in enumerate(systems.items())
            ),
            x=Axis(label="system turn"),
            y=Axis(label="mean score"),
            title=metric[:_NAME],
        )
        for metric, systems in metrics.items()
    )
    return Figure(title="Scores by turn", panels=panels, width=_PANEL * len(panels), height=180)


def interval_rows(lines: Sequence[Line], *, title: str, axis: str) -> Figure:
    """Values with their intervals, one under the other."""
    marks = [vertical(0, -0.5, len(lines) - 0.5)]
    for row, line in enumerate(lines):
        if line.value is not None:
            marks += interval(row, line.value, line.low, line.high)
    names = rows([line.name for line in lines])
    panel = FigurePanel(marks=tuple(marks), x=Axis(label=axis), y=names, title=title)
    return Figure(title=title, panels=(panel,), width=504, height=18 * len(lines))


def _curve(values: Mapping[int, Estimate], name: str, number: int) -> Series:
    """A line with the band between its bounds."""
    points = tuple(Point(x, each.value, each.low, each.high) for x, each in values.items())
    return Series(points, name[:_NAME], style(number))


def _ray(metric: str) -> str:
    """A metric's name without its evaluator, a word a line where it is long."""
    name = metric.rpartition(".")[2][:_NAME].replace("_", " ")
    return fill(name, 14, break_long_words=False)
