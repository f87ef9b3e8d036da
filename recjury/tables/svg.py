"""Draws figures as SVG: text stays text, and equal figures are equal to the byte."""

import math
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from typing import NamedTuple, TypeAlias, TypeGuard
from unicodedata import combining, east_asian_width

from recjury.safe_text import printable
from recjury.tables.figure import (
    GRID,
    INK,
    RULE,
    Axis,
    Box,
    Figure,
    FigurePanel,
    Label,
    Mark,
    Series,
    Style,
    Tick,
)

_SIZE, _SMALL = 9.0, 8.0  # of text, in points
_LEADING = 1.15  # from line to line, in sizes
_GAP = 5.0  # between marks, ticks and labels
_CORNERS = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "triangle": ((0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "down": ((0, 1.2), (1.1, -0.9), (-1.1, -0.9)),
    "tick": ((-0.3, -1.9), (0.3, -1.9), (0.3, 1.9), (-0.3, 1.9)),
}

_XY: TypeAlias = tuple[float, float]


def svg(figure: Figure) -> str:
    """The figure as an SVG element, in the font and the colour of the text around it."""
    columns = max(1, figure.columns or len(figure.panels))
    parts, top = _legend(figure)
    for start in range(0, len(figure.panels), columns):
        panels = figure.panels[start : start + columns]
        top += max(_head(panel) for panel in panels)
        for place, panel in enumerate(panels):
            width = figure.width / columns
            parts += _drawn(panel, _frame(panel, (place * width, top), width, figure.height))
        top += figure.height + max(_foot(panel) for panel in panels)
    right, bottom = _n(figure.width), _n(top)
    attributes = (
        f'role="img" aria-label="{escape(printable(figure.title))}" fill="{INK}" '
        f'width="{right}pt" height="{bottom}pt" viewBox="0 0 {right} {bottom}"'
    )
    return "\n".join([f'<svg {attributes} xmlns="http://www.w3.org/2000/svg">', *parts, "</svg>"])


class _Scale(NamedTuple):
    """Where the values of an axis are on the page."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


class _Frame(NamedTuple):
    """The place of a panel's marks, with the ticks that fit it; `y.start` is the bottom."""

    x: _Scale
    y: _Scale
    x_ticks: list[Tick]
    y_ticks: list[Tick]


def _frame(panel: FigurePanel, corner: _XY, width: float, height: float) -> _Frame:
    left, top = corner
    y = _Scale(*_ends(panel.y, [v for m in panel.marks for v in _spread(m)[1]]), top + height, top)
    y_ticks = [Tick(at, _cut(text, 0.4 * width)) for at, text in _ticks(panel.y, y, 20)]
    start = left + _widest(y_ticks) + 2 * _GAP + (1.5 * _SIZE if panel.y.label else 0)
    end = left + width - 2 * _GAP
    if panel.is_square:
        start, end = (start + end - height) / 2, (start + end + height) / 2
    x = _Scale(*_ends(panel.x, [v for m in panel.marks for v in _spread(m)[0]]), start, end)
    return _Frame(x, y, _ticks(panel.x, x, 48), y_ticks)


def _spread(mark: Mark) -> tuple[list[float], list[float]]:
    """The finite values of a mark along x and along y."""
    if isinstance(mark, Series):
        ys = [value for point in mark.points for value in point[1:] if _is_number(value)]
        return [point.x for point in mark.points], ys
    if isinstance(mark, Box):
        return [mark.left, mark.right], [mark.low, mark.high]
    return [mark.x], [mark.y]


def _is_number(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _ends(axis: Axis, values: list[float]) -> _XY:
    """The ends of an axis, with a margin where they come from the data."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = 0.04 * (high - low) or 0.5
    low = low - margin if axis.low is None else axis.low
    high = high + margin if axis.high is None else axis.high
    return (low, high) if low != high else (low, low + 1)


def _ticks(axis: Axis, scale: _Scale, room: float) -> list[Tick]:
    """The axis's own ticks, or round numbers at least about `room` points apart."""
    if axis.ticks is not None:
        return list(axis.ticks)
    low, high = sorted((scale.low, scale.high))
    least = (high - low) * min(room / abs(scale.end - scale.start), 1)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
    numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [Tick(number * step, f"{number * step:.6g}") for number in numbers]


def _head(panel: FigurePanel) -> float:
    """The height of what is above a panel's marks."""
    ticks = _height(panel.x.ticks or (), _SMALL) if panel.x.is_on_top else 0
    return _GAP + ticks + _height(panel.x.groups, _SIZE) + (2 * _SIZE if panel.title else 0)


def _foot(panel: FigurePanel) -> float:
    """The height of what is below a panel's marks."""
    ticks = _height((Tick(0, ""),) if panel.x.ticks is None else panel.x.ticks, _SMALL)
    return (0 if panel.x.is_on_top else ticks) + (1.5 * _SIZE if panel.x.label else 0) + _GAP


def _height(ticks: Iterable[Tick], size: float) -> float:
    lines = max((1 + tick.text.count("\n") for tick in ticks), default=0)
    return lines * size * _LEADING + _GAP if lines else 0


def _drawn(panel: FigurePanel, frame: _Frame) -> Iterator[str]:
    x, y = frame.x, frame.y
    yield from _x_axis(panel.x, frame)
    yield from _y_axis(panel.y, frame)
    for mark in panel.marks:
        if isinstance(mark, Series):
            yield from _series(mark, frame)
        elif isinstance(mark, Box):
            yield _box(mark, (x(mark.left), y(mark.high)), (x(mark.right), y(mark.low)))
        else:
            place = x(mark.x) + mark.dx, y(mark.y) + mark.dy + 0.35 * mark.size
            yield _text(place, mark.text, mark.anchor, mark.size, color=mark.color)
    title = _cut(panel.title, x.end - x.start)
    yield _text((x.start, y.end - _head(panel) + 1.6 * _SIZE), title, "start")
    yield _text(((x.start + x.end) / 2, y.start + _foot(panel) - 1.5 * _GAP), panel.x.label)


def _x_axis(axis: Axis, frame: _Frame) -> Iterator[str]:
    x, y = frame.x, frame.y
    top = y.end - _GAP
    for at, text in frame.x_ticks:
        if axis.has_grid:
            yield _line([(x(at), y.start), (x(at), y.end)], GRID)
        rise = text.count("\n") * _SMALL * _LEADING
        height = top - rise if axis.is_on_top else y.start + _GAP + _SMALL
        yield _text((x(at), height), text, size=_SMALL)
    for at, text in axis.groups:
        rise = _height(frame.x_ticks, _SMALL) + text.count("\n") * _SIZE * _LEADING
        yield _text((x(at), top - rise), text, more=' font-weight="bold"')
    if axis.has_line:
        yield _line([(x.start, y.start), (x.end, y.start)], RULE)


def _y_axis(axis: Axis, frame: _Frame) -> Iterator[str]:
    x, y = frame.x, frame.y
    for at, text in frame.y_ticks:
        if axis.has_grid:
            yield _line([(x.start, y(at)), (x.end, y(at))], GRID)
        yield _text((x.start - _GAP, y(at) + 0.35 * _SIZE), text, "end")
    if axis.has_line:
        yield _line([(x.start, y.start), (x.start, y.end)], RULE)
    left, middle = x.start - _widest(frame.y_ticks) - 2 * _GAP, (y.start + y.end) / 2
    turned = f' transform="rotate(-90 {_n(left)} {_n(middle)})"'
    yield _text((left, middle), axis.label, more=turned)


def _series(series: Series, frame: _Frame) -> Iterator[str]:
    """The band, the line and the points of each run without a gap."""
    look, (x, y, *_) = series.style, frame
    for is_run, group in groupby(series.points, key=lambda point: _is_number(point.y)):
        points = list(group) if is_run else []
        lows = [(x(p.x), y(p.low)) for p in points if _is_number(p.low)]
        highs = [(x(p.x), y(p.high)) for p in points if _is_number(p.high)]
        if lows and highs:
            yield _area([*highs, *reversed(lows)], look.color, 0.15)
        places = [(x(p.x), y(p.y)) for p in points if _is_number(p.y)]
        if look.width and len(places) > 1:
            yield _line(places, look)
        yield from (_marker(place, look) for place in places if look.marker)


def _marker(place: _XY, look: Style) -> str:
    (x, y), radius = place, look.size / 2
    if look.marker == "circle":
        shape = f'cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"'
        return f'<circle {shape} fill="{look.color}" opacity="{_n(look.opacity)}"/>'
    corners = [(x + radius * dx, y + radius * dy) for dx, dy in _CORNERS[look.marker]]
    return _area(corners, look.color, look.opacity)


def _line(places: list[_XY], look: Style) -> str:
    dash = f' stroke-dasharray="{look.dash}"' if look.dash else ""
    stroke = f'stroke="{look.color}" stroke-width="{_n(look.width)}"{dash}'
    return f'<polyline points="{_path(places)}" fill="none" {stroke} opacity="{_n(look.opacity)}"/>'


def _area(places: list[_XY], color: str, opacity: float) -> str:
    return f'<polygon points="{_path(places)}" fill="{color}" opacity="{_n(opacity)}"/>'


def _path(places: list[_XY]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in places)


def _box(box: Box, start: _XY, end: _XY) -> str:
    (left, right), (top, bottom) = (sorted(pair) for pair in zip(start, end, strict=True))
    size = f'width="{_n(right - left)}" height="{_n(bottom - top)}"'
    outline = f'fill="none" stroke="{INK}" stroke-width="0.4" opacity="0.4"'
    fill = outline if box.color is None else f'fill="{box.color}"'
    return f'<rect x="{_n(left)}" y="{_n(top)}" {size} {fill}/>'


def _text(
    place: _XY,
    text: str,
    anchor: str = "middle",
    size: float = _SIZE,
    *,
    color: str = INK,
    more: str = "",
) -> str:
    """A text of one or several lines; `place` is on the base of the first."""
    x, y = _n(place[0]), _n(place[1])
    lines = [escape(line) for line in printable(text).split("\n")]
    step = f'<tspan x="{x}" dy="{_n(size * _LEADING)}">'
    content = lines[0] + "".join(f"{step}{line}</tspan>" for line in lines[1:])
    fill = "" if color == INK else f' fill="{color}"'
    where = f'x="{x}" y="{y}" text-anchor="{anchor}" font-size="{_n(size)}"'
    return f"<text {where}{fill}{more}>{content}</text>"


def _width(text: str, size: float) -> float:
    """About the width of a text: wide characters of East Asia take twice the room of others."""
    ems = (0 if combining(c) else 1.0 if east_asian_width(c) in "WF" else 0.58 for c in text)
    return size * sum(ems)


def _widest(ticks: Iterable[Tick]) -> float:
    return max((_width(tick.text, _SIZE) for tick in ticks), default=0.0)


def _cut(text: str, room: float) -> str:
    """The beginning of a text that fits."""
    if _width(text, _SIZE) <= room:
        return text
    ends = (end for end in range(len(text), 0, -1) if _width(text[:end] + "…", _SIZE) <= room)
    return text[: next(ends, 0)] + "…"


def _legend(figure: Figure) -> tuple[list[str], float]:
    """The names of the marks beside their looks, from left to right in rows; and their height."""
    named = {
        mark.name: mark
        for panel in figure.panels
        for mark in panel.marks
        if not isinstance(mark, Label) and mark.name
    }
    parts: list[str] = []
    left, base = 0.0, 1.2 * _SIZE
    for name, mark in named.items():
        shown = _cut(name, figure.width - 30)
        width = 38 + _width(shown, _SIZE)
        if left and left + width > figure.width:
            left, base = 0.0, base + 1.5 * _SIZE
        middle = base - 0.35 * _SIZE
        if isinstance(mark, Box):
            parts.append(_box(mark, (left + 4, middle - 4), (left + 18, middle + 4)))
        else:
            line = [(left, middle), (left + 22, middle)]
            parts += [_line(line, mark.style)] if mark.style.width else []
            parts += [_marker((left + 11, middle), mark.style)] if mark.style.marker else []
        parts.append(_text((left + 27, base), shown, "start"))
        left += width
    return parts, base + _GAP if named else 0.0


def _n(value: float) -> str:
    """A number of points, to a hundredth."""
    return f"{round(value, 2) + 0.0:g}"
