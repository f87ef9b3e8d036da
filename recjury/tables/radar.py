"""Radar charts: a ray for each name, and a closed line for each series."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from recjury.tables.figure import GRID, Axis, FigurePanel, Label, Mark, Point, Series, style

_LEVELS = (0.25, 0.5, 0.75, 1)


def radar(
    series: Mapping[str, Sequence[float | None]],
    rays: Sequence[str],
    *,
    top: float,
    title: str = "",
) -> FigurePanel:
    """A panel with the values of each named series, one for each ray, from 0 to `top`.

    A line is broken where a value is None or NaN.
    """

    def at(ray: int, value: float | None) -> Point:
        angle = 2 * math.pi * ray / len(rays)
        radius = math.nan if value is None else value / top
        return Point(radius * math.cos(angle), radius * math.sin(angle))

    around = (*range(len(rays)), 0)
    grid = [tuple(at(ray, top * level) for ray in around) for level in _LEVELS]
    grid += [(at(ray, 0), at(ray, top)) for ray in range(len(rays))]
    marks: list[Mark] = [Series(line, style=GRID) for line in grid]
    marks += [
        Label(x=level, y=0, text=f"{top * level:.2g}", size=7, dx=2, dy=6) for level in _LEVELS
    ]
    for number, (name, values) in enumerate(series.items()):
        points = tuple(at(ray, values[ray]) for ray in around)
        marks.append(Series(points, name, replace(style(number), size=3)))
    marks += [_name(name, at(ray, 1.1 * top)) for ray, name in enumerate(rays)]
    hidden = Axis(low=-1.2, high=1.2, ticks=(), has_line=False)
    return FigurePanel(marks=tuple(marks), x=hidden, y=hidden, title=title, is_square=True)


def _name(name: str, end: Point) -> Label:
    x, y = end.x, end.y or 0.0
    anchor = "start" if x > 0.3 else "end" if x < -0.3 else "middle"
    return Label(x=x, y=y, text=name, anchor=anchor, dy=-4 * name.count("\n"))
