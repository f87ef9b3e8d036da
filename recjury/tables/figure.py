"""Figures as data: panels with axes and marks, which `svg` draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

INK = "currentColor"
"""The colour of the text around a figure, which differs on light and dark pages."""

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
"""Okabe and Ito's colours without black and yellow, which vanish on one of the two backgrounds."""

_MARKERS = ("circle", "square", "triangle", "diamond", "down")


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a line and its points look: `width` 0 draws no line, an empty `marker` no points.

    `width` and `size`, the diameter of a point, are in points (1/72 inch); `dash` is as in SVG.
    Markers are circle, square, triangle, diamond, down and tick.
    """

    color: str = PALETTE[0]
    marker: str = "circle"
    dash: str = ""
    width: float = 1.5
    size: float = 4
    opacity: float = 1


GRID = Style(color=INK, marker="", width=0.6, opacity=0.15)
"""Lines behind the marks."""


def style(number: int) -> Style:
    """The style of a series by its number: no two of 30 are equal."""
    marker = _MARKERS[number // len(PALETTE) % len(_MARKERS)]
    return Style(color=PALETTE[number % len(PALETTE)], marker=marker)


class Point(NamedTuple):
    """A point; the line is broken where `y` is None or NaN. `low` and `high` bound a band."""

    x: float
    y: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """Points with a line through them; the legend explains marks that have a name."""

    points: tuple[Point, ...]
    name: str = ""
    style: Style = Style()


@dataclass(frozen=True, kw_only=True)
class Box:
    """A bar, or a cell of a heat map, between two corners; without a colour it has an outline."""

    left: float
    right: float
    low: float
    high: float
    color: str | None
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Label:
    """A text at a place, moved to the right by `dx` and down by `dy` points."""

    x: float
    y: float
    text: str
    anchor: str = "middle"
    size: float = 8
    color: str = INK
    dx: float = 0
    dy: float = 0


Mark: TypeAlias = Series | Box | Label


def interval(row: float, value: float, low: float | None, high: float | None) -> tuple[Series, ...]:
    """A value in a row, with its interval if both ends are known."""
    point = Series((Point(value, row),), style=Style(size=6))
    if low is None or high is None:
        return (point,)
    ends = (Point(low, row), Point(high, row))
    return Series(ends, style=Style(marker="tick", width=2.2)), point


RULE = Style(color=INK, marker="", width=0.6)
"""Lines that values are read against."""


def vertical(x: float, low: float, high: float, style: Style = RULE) -> Series:
    """A vertical line."""
    return Series((Point(x, low), Point(x, high)), style=style)


class Tick(NamedTuple):
    """A place on an axis and its text, which may have several lines."""

    at: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis: its ends (None: from the data) and its ticks (None: round numbers).

    `groups` are bold headings above the ticks of an x axis with `is_on_top`.
    """

    label: str = ""
    low: float | None = None
    high: float | None = None
    ticks: tuple[Tick, ...] | None = None
    groups: tuple[Tick, ...] = ()
    has_grid: bool = False
    has_line: bool = True
    is_on_top: bool = False


def rows(names: Sequence[str]) -> Axis:
    """A y axis with names at 0, 1, 2, ..., the first at the top."""
    ticks = tuple(Tick(row, name) for row, name in enumerate(names))
    return Axis(low=len(ticks) - 0.5, high=-0.5, ticks=ticks, has_line=False)


@dataclass(frozen=True, kw_only=True)
class FigurePanel:
    """Marks between two axes; with `is_square`, both are equally long."""

    marks: tuple[Mark, ...]
    x: Axis = Axis()
    y: Axis = Axis()
    title: str = ""
    is_square: bool = False


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Panels in rows of `columns` (None: all in one row), under one legend.

    `title` is what a screen reader says. `width` is that of the whole, `height` that of the marks
    of one panel, both in points; titles, ticks and the legend add to the height.
    """

    title: str
    panels: tuple[FigurePanel, ...]
    width: float = 432
    height: float = 200
    columns: int | None = None
