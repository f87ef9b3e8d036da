"""Findings drawn as PNG or SVG: means by system, or differences, with their intervals."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from recjury.errors import UserError
from recjury.results.findings import Findings
from recjury.results.sentences import rows_of

_FORMS = (".png", ".svg")
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours that colour-blind readers tell apart (Okabe and Ito 2008); marks tell more."""

_MARKS = "osD^vPX*"
_STYLE: Any = {
    "text.parse_math": False,
    "svg.fonttype": "none",  # texts stay texts
    "svg.hashsalt": "recjury",  # equal findings give equal files
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "x",
    "grid.alpha": 0.3,
    "font.size": 9,
}
_WIDTH, _LINE, _EDGE = 8.0, 0.11, 0.5  # inches: of the figure, a line, and around a panel


class _Point(NamedTuple):
    """A value with its interval; a hollow one is not decided."""

    row: str
    series: str
    value: float
    low: float
    high: float
    is_full: bool = True


class _Panel(NamedTuple):
    """Points on one scale."""

    title: str
    points: Sequence[_Point]
    limits: tuple[float, float] | None = None

    @property
    def rows(self) -> list[str]:
        return list(dict.fromkeys(point.row for point in self.points))


def check_plot(path: Path) -> None:
    """Raises UserError if nothing can be drawn there: another form, or no matplotlib."""
    if path.suffix.lower() not in _FORMS:
        raise UserError(f"{path}: expected a name that ends with {' or '.join(_FORMS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UserError("plots need matplotlib: pip install 'recjury[plots]'") from None


def plot(findings: Findings, path: Path) -> None:
    """Draw a summary or a comparison. Raises UserError for another form, or without numbers.

    Metrics share a panel if they share a scale. Of more than two sides, a comparison shows the
    leading metric alone.
    """
    check_plot(path)
    numbers = findings.numbers
    is_gap = numbers is not None and "difference" in numbers.columns
    panels = [] if numbers is None else list((_gaps if is_gap else _means)(numbers))
    if not panels:
        raise UserError(f"{path}: there is no number to draw")
    save_figure(path, lambda: _drawn(panels, zero=is_gap))


def save_figure(path: Path, drawn: Callable[[], Any]) -> None:
    """Draw a figure of matplotlib in the house's style into a file. Raises UserError."""
    check_plot(path)
    import matplotlib as mpl

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a font may lack a character
        figure = drawn()
        try:
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
            figure.savefig(path, dpi=150, metadata=metadata)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from None


def _means(numbers: pd.DataFrame) -> Iterator[_Panel]:
    """A panel for each scale, and for each metric without one."""
    known, title = numbers[numbers["n"] > 0], numbers.attrs.get("title", "Means")
    for rows in _by_scale(known):
        points = [
            _Point(row["metric"], row["system"], row["mean"], row["low"], row["high"])
            for row in rows
        ]
        end = rows[0]["scale"]
        low = min([-0.02 * end, *(point.low for point in points if point.low < 0)])
        limits = (low, 1.02 * end) if end == end else None
        yield _Panel(f"{title} with 95 % intervals", points, limits)


def _gaps(numbers: pd.DataFrame) -> Iterator[_Panel]:
    """All metrics of two sides; of more, the leading metric of each pair."""
    known = numbers[numbers["n"] > 0]
    if len(known[["a", "b"]].drop_duplicates()) > 1:
        lead = known["metric"].iloc[0]
        rows = rows_of(known[known["metric"] == lead])
        yield _Panel(f"{lead}: differences", [_gap(row, _pair(row)) for row in rows])
        return
    for rows in _by_scale(known):
        yield _Panel(_pair(rows[0]), [_gap(row, row["metric"]) for row in rows])


def _pair(row: dict[str, Any]) -> str:
    return f"{row['a']} minus {row['b']}"


def _gap(row: dict[str, Any], name: str) -> _Point:
    values = row["difference"], row["low"], row["high"]
    return _Point(name, "", *values, is_full=bool(row["decided"]))


def _by_scale(numbers: pd.DataFrame) -> list[list[dict[str, Any]]]:
    scales = numbers["scale"].astype(str).where(numbers["scale"].notna(), numbers["metric"])
    return [rows_of(rows) for _, rows in numbers.groupby(scales, sort=False)]


def _drawn(panels: Sequence[_Panel], *, zero: bool) -> Any:
    """The panels below each other, each as high as its lines."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    series = list(dict.fromkeys(point.series for panel in panels for point in panel.points))
    heights = [_EDGE + _LINE * len(panel.rows) * (len(series) + 1) for panel in panels]
    figure = Figure((_WIDTH, sum(heights) + _EDGE), layout="constrained")
    axes = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
    for panel, axis in zip(panels, axes, strict=True):
        _draw(panel, axis, series)
        if zero:
            axis.axvline(0, color="0.4", linewidth=0.8)
    axes[0].set_title(_text(panels[0].title), loc="left")
    if zero:
        axes[-1].set_xlabel("full marks: decided (p < .05)")
    if len(series) > 1:
        marks = [Line2D([], [], **_look(number)) for number in range(len(series))]
        names = [f" {_text(name)}" for name in series]
        figure.legend(marks, names, loc="outside upper center", ncols=4, frameon=False)
    return figure


def _look(number: int) -> dict[str, Any]:
    colour, mark = _COLOURS[number % len(_COLOURS)], _MARKS[number % len(_MARKS)]
    return {"color": colour, "marker": mark, "markersize": 5, "linewidth": 1.2}


def _draw(panel: _Panel, axis: Any, series: Sequence[str]) -> None:
    """Each series in its own line below the others of its row."""
    rows, step = panel.rows, 1 / (len(series) + 1)
    for point in panel.points:
        number = series.index(point.series)
        y = rows.index(point.row) + (number + 1) * step - 0.5
        look = _look(number)
        axis.plot([point.low, point.high], [y, y], **look | {"marker": ""})
        face = look["color"] if point.is_full else "white"
        axis.plot([point.value], [y], **look, markerfacecolor=face)
    axis.set_yticks(range(len(rows)), [_text(row) for row in rows])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    if panel.limits:
        axis.set_xlim(*panel.limits)


def _text(text: str) -> str:
    """The text without what no font has."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
