"""Figures as SVG: text stays text, in the colours of the page that shows them.

A figure leaves matplotlib's state unchanged, and equal figures are equal to the byte.
"""

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from recjury.errors import DataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

INK = "#010203"
"""A placeholder for the colour of the page's text, which differs on light and dark pages."""

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
"""Okabe and Ito's colours without black and yellow, which vanish on one of the two backgrounds."""

_SETTINGS: "dict[RcKeyType, object]" = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.family": "sans-serif",
    "font.size": 9.5,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "recjury",
    "text.color": INK,
    "text.parse_math": False,  # a system may be called "$x$"
    "xtick.color": INK,
    "ytick.color": INK,
}


def draw(paint: Callable[["Figure"], None], *, width: float, height: float, title: str) -> str:
    """The SVG element of a figure of `width` x `height` inches that `paint` fills.

    `title` is what a screen reader says.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    buffer = io.StringIO()
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # Names may be in any script; the page's own fonts show them, not matplotlib's.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure)
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return _for_a_page(buffer.getvalue(), title)


def save(svg: str, path: Path) -> Path:
    """Write a figure as a file of its own; the folder is made if it is missing.

    Raises DataError if it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{svg}\n", "utf-8")
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=path) from None
    return path


def _for_a_page(document: str, title: str) -> str:
    svg = document[document.index("<svg") :].strip()
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Ids of groups would repeat in the figures of a page; nothing refers to them.
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r"font: ([0-9.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = svg.replace(INK, "currentColor")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)
