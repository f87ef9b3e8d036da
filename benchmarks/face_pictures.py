"""The pictures of docs/face-results.md as SVG: two systems by aspect and by turn, and effort."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from recjury.tables import Figure, picture
from recjury.tables.figure import INK, Axis, FigurePanel, Point, Series, style
from recjury.tables.radar import radar

_NAMES = {"barcor": "BARCOR", "unicrs": "UniCRS"}


def draw(found: dict[str, Any], folder: Path) -> list[Path]:
    """Draw all pictures into `folder`; equal findings give equal files."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "face-radar.svg": _radar(found["contrast"]),
        "face-turns.svg": _turns(found["contrast"]),
        "face-samples.svg": _efficiency(found["sample_efficiency"]),
    }
    for name, figure in figures.items():
        (folder / name).write_bytes(picture(figure))
    return [folder / name for name in figures]


def _radar(contrast: Mapping[str, Any]) -> Figure:
    aspects = list(next(iter(contrast.values()))["aspects"])
    panels = {
        f"{title} (share of the scale)": {
            _NAMES[system]: [row["aspects"][aspect][who]["value"] for aspect in aspects]
            for system, row in contrast.items()
        }
        for who, title in (("scores", "FACE"), ("labels", "people"))
    }
    rays = [aspect.replace("_", "\n") for aspect in aspects]
    top = 1.05 * max(v for rows in panels.values() for row in rows.values() for v in row)
    return Figure(
        title="BARCOR and UniCRS by aspect",
        panels=tuple(radar(rows, rays, top=top, title=title) for title, rows in panels.items()),
        width=540,
        height=170,
    )


def _turns(contrast: Mapping[str, Any]) -> Figure:
    curves = tuple(
        Series(
            tuple(
                Point(turn, mean["value"], mean["low"], mean["high"])
                for turn, mean in enumerate(row["understanding_by_turn"], start=1)
            ),
            _NAMES[system],
            style(number),
        )
        for number, (system, row) in enumerate(contrast.items())
    )
    x, y = Axis(label="system turn"), Axis(label="understanding (share of the scale)", low=0)
    panel = FigurePanel(marks=curves, x=x, y=y)
    return Figure(title="Understanding by system turn", panels=(panel,), width=360)


def _efficiency(found: list[dict[str, Any]]) -> Figure:
    looks = {"evaluator": style(0), "people": replace(style(0), color=INK)}
    names = {"evaluator": "FACE", "people": "people"}
    curves = tuple(
        Series(tuple(Point(row["size"], *row[key]) for row in found), names[key], look)
        for key, look in looks.items()
    )
    x = Axis(label="dialogues per system")
    y = Axis(label="Spearman with the ranking by people", low=0, high=1)
    panel = FigurePanel(marks=curves, x=x, y=y)
    return Figure(title="Rankings from few dialogues", panels=(panel,), width=360)
