"""The pictures of docs/face-results.md as SVG: two systems by aspect and by turn, and effort."""

from pathlib import Path
from typing import Any

_COLOURS = {"barcor": "#1b6ca8", "unicrs": "#d1622b"}
_NAMES = {"barcor": "BARCOR", "unicrs": "UniCRS"}


def draw(found: dict[str, Any], folder: Path) -> list[Path]:
    """Draw all pictures into `folder`; equal findings give equal files."""
    import matplotlib as mpl

    mpl.use("svg")
    # Without these, every run would write other ids and another date.
    mpl.rcParams.update({"svg.hashsalt": "face", "svg.fonttype": "none", "font.size": 9})
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _radar(found["contrast"], folder / "face-radar.svg"),
        _turns(found["contrast"], folder / "face-turns.svg"),
        _efficiency(found["sample_efficiency"], folder / "face-samples.svg"),
    ]


def _save(figure: Any, path: Path) -> Path:
    figure.savefig(path, format="svg", metadata={"Date": None}, bbox_inches="tight")
    return path


def _radar(contrast: dict[str, Any], path: Path) -> Path:
    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 3.6))
    for place, (who, title) in enumerate((("scores", "FACE"), ("labels", "people")), start=1):
        axes = figure.add_subplot(1, 2, place, projection="polar")
        for system, row in contrast.items():
            values = [cell[who]["value"] for cell in row["aspects"].values()]
            angles = np.linspace(0, 2 * np.pi, len(values), endpoint=False)
            closed = [*angles, angles[0]], [*values, values[0]]
            axes.plot(*closed, color=_COLOURS[system], label=_NAMES[system])
            axes.fill(*closed, color=_COLOURS[system], alpha=0.12)
        names = [name.replace("_", "\n") for name in next(iter(contrast.values()))["aspects"]]
        axes.set_xticks(angles, names)
        axes.tick_params(pad=8)
        axes.set_ylim(0, None)
        axes.set_title(f"{title} (share of the scale)", pad=22)
    figure.legend(*axes.get_legend_handles_labels(), loc="lower center", ncols=2)
    figure.subplots_adjust(wspace=0.6, bottom=0.18)
    return _save(figure, path)


def _turns(contrast: dict[str, Any], path: Path) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3))
    axes = figure.add_subplot()
    for system, row in contrast.items():
        curve = row["understanding_by_turn"]
        turns = range(1, len(curve) + 1)
        axes.plot(turns, [one["value"] for one in curve], "o-", color=_COLOURS[system],
                  label=_NAMES[system], markersize=3)  # fmt: skip
        axes.fill_between(turns, [one["low"] for one in curve], [one["high"] for one in curve],
                          color=_COLOURS[system], alpha=0.15, linewidth=0)  # fmt: skip
    axes.set(xlabel="system turn", ylabel="understanding (share of the scale)", ylim=(0, None))
    axes.legend(frameon=False)
    return _save(figure, path)


def _efficiency(found: list[dict[str, Any]], path: Path) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3))
    axes = figure.add_subplot()
    sizes = [row["size"] for row in found]
    for key, name, colour in (("evaluator", "FACE", "#1b6ca8"), ("people", "people", "#666666")):
        means, lows, highs = zip(*(row[key] for row in found), strict=True)
        axes.plot(sizes, means, "o-", color=colour, label=name, markersize=3)
        axes.fill_between(sizes, lows, highs, color=colour, alpha=0.15, linewidth=0)
    axes.set(xlabel="dialogues per system", ylabel="Spearman with the ranking by people",
             ylim=(0, 1))  # fmt: skip
    axes.legend(frameon=False, loc="lower right")
    return _save(figure, path)
