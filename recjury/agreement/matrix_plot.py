"""Correlation matrices as heat maps, side by side."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from recjury.tables.figure import Axis, Box, Figure, FigurePanel, Label, Mark, Tick, rows

_NEGATIVE, _NONE, _POSITIVE = (0xD5, 0x5E, 0x00), (0xFF, 0xFF, 0xFF), (0x00, 0x72, 0xB2)
_DARK = 0.6  # the text is white on cells from here on
_COLUMNS = 2
_CELL = 26  # points


def matrix_plot(matrices: Mapping[str, tuple[Sequence[str], NDArray[np.float64]]]) -> Figure:
    """A panel for each matrix of correlations with the names of its rows, by title.

    Cells have the correlation in percent, as in CoRE, figure 6; those that are undefined are empty.
    """
    panels = tuple(_panel(title, *each) for title, each in matrices.items())
    size = _CELL * max(len(names) for names, _ in matrices.values())
    columns = min(_COLUMNS, len(panels))
    return Figure(
        title="Correlations of factors, in percent",
        panels=panels,
        width=(size + 130) * columns,
        height=size,
        columns=columns,
    )


def _panel(title: str, names: Sequence[str], matrix: NDArray[np.float64]) -> FigurePanel:
    marks: list[Mark] = []
    for row, column in product(range(len(names)), repeat=2):
        r = float(matrix[row, column])
        if np.isnan(r):
            continue
        low, high = row + 0.5, row - 0.5
        marks.append(
            Box(left=column - 0.5, right=column + 0.5, low=low, high=high, color=_color(r))
        )
        ink = "#ffffff" if abs(r) > _DARK else "#000000"
        marks.append(Label(x=column, y=row, text=f"{100 * r:.0f}", color=ink, dy=3))
    shown = [name.replace("_", " ") for name in names]
    numbers = tuple(Tick(place, str(place + 1)) for place in range(len(names)))
    y = rows([f"{name} {number}" for number, name in enumerate(shown, start=1)])
    x = Axis(low=-0.5, high=len(names) - 0.5, ticks=numbers, has_line=False, is_on_top=True)
    return FigurePanel(marks=tuple(marks), x=x, y=y, title=title)


def _color(r: float) -> str:
    """White at 0, orange towards -1 and blue towards 1."""
    end = _POSITIVE if r > 0 else _NEGATIVE
    mixed = (round(a + (b - a) * min(abs(r), 1)) for a, b in zip(_NONE, end, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
