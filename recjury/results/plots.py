"""Findings drawn as PNG or SVG: means by system, or differences, with their intervals."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from recjury.errors import UserError
from recjury.results.findings import Findings

_ENDS = (".png", ".svg")
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


def check_plot(path: Path) -> None:
    """Raises UserError if nothing can be drawn there: another form, or no matplotlib."""
    if path.suffix.lower() not in _ENDS:
        raise UserError(f"{path}: expected a name that ends with {' or '.join(_ENDS)}")
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
    if numbers is None or not (numbers["n"] > 0).any():
        raise UserError(f"{path}: there is no number to draw")
    known, title = numbers[numbers["n"] > 0], numbers.attrs.get("title", "Means")
    if "difference" in known:
        save_figure(path, lambda: _drawn(*_gaps(known), zero=True))
    else:
        points = known.assign(row=_rows(known), series=known["system"], value=known["mean"])
        save_figure(path, lambda: _drawn(points, f"{title} with 95 % intervals"))


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


def _rows(known: pd.DataFrame) -> "pd.Series[str]":
    """The metrics, with the direction of those that are better if lower."""
    is_down = known.get("lower_is_better", pd.Series(data=False, index=known.index))
    return known["metric"].mask(is_down, known["metric"] + ", lower is better")


def _gaps(known: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """All metrics of two sides; of more, the leading metric of each pair. And a title."""
    lead, pairs = known["metric"].iloc[0], known["a"] + " minus " + known["b"]
    points = known.assign(row=_rows(known), series="", value=known["difference"])
    if pairs.nunique() == 1:
        return points, pairs.iloc[0]
    return points.assign(row=pairs)[points["metric"] == lead], f"{lead}: differences"


def _drawn(points: pd.DataFrame, title: str, *, zero: bool = False) -> Any:
    """A panel for each scale, and for each metric without one, as high as its lines."""
    from matplotlib.figure import Figure

    scales = points["scale"].astype(str).where(points["scale"].notna(), points["metric"])
    panels = [own for _, own in points.groupby(scales, sort=False)]
    series = list(dict.fromkeys(points["series"]))
    heights = [_EDGE + _LINE * own["row"].nunique() * (len(series) + 1) for own in panels]
    figure = Figure((_WIDTH, sum(heights) + _EDGE), layout="constrained")
    axes = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
    marks: dict[str, Any] = {}
    for own, axis in zip(panels, axes, strict=True):
        marks |= _draw(own, axis, series)
        if zero:
            axis.axvline(0, color="0.4", linewidth=0.8)
        elif (end := own["scale"].iloc[0]) == end:
            axis.set_xlim(min(-0.02 * end, own["low"].min()), 1.02 * end)
    axes[0].set_title(_text(title), loc="left")
    if zero:
        axes[-1].set_xlabel("full marks: decided (p < .05)")
    if len(series) > 1:
        names = [f" {_text(name)}" for name in series]
        handles = [marks[name] for name in series]
        figure.legend(handles, names, loc="outside upper center", ncols=4, frameon=False)
    return figure


def _draw(points: pd.DataFrame, axis: Any, series: list[str]) -> dict[str, Any]:
    """Each series in its own line below the others of its row; its marks by its name."""
    rows, marks = list(dict.fromkeys(points["row"])), {}
    for number, name in enumerate(series):
        own = points[points["series"] == name]
        if own.empty:
            continue
        y = own["row"].map(rows.index) + (number + 1) / (len(series) + 1) - 0.5
        colour, mark = _COLOURS[number % len(_COLOURS)], _MARKS[number % len(_MARKS)]
        axis.hlines(y, own["low"], own["high"], color=colour, linewidth=1.2)
        is_full = own.get("decided", pd.Series(data=True, index=own.index))
        faces = [colour if full else "white" for full in is_full]
        marks[name] = axis.scatter(
            own["value"], y, 25, faces, marker=mark, edgecolors=colour, zorder=2
        )
    axis.set_yticks(range(len(rows)), [_text(row) for row in rows])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    return marks


def _text(text: str) -> str:
    """The text without what no font has."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
