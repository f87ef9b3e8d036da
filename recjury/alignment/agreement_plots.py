"""A plot of each metric against an aspect's labels, with what else reaches how much."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from recjury.alignment.agreement import Agreements, AspectAgreement, Coefficients
from recjury.alignment.label_sets import LabelSet
from recjury.alignment.predictions import Predictions
from recjury.alignment.predictors import CONSTANT
from recjury.errors import DataError
from recjury.records import ScoreTarget
from recjury.safe_text import printable

_FEWEST = 3  # places
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_NAMED = 9  # systems in the legend
_NO_FILE_NAME = re.compile(r"[^\w.+-]+")


def write_agreement_plots(
    found: Agreements, predictions: Predictions, people: LabelSet, folder: Path, *, seed: int = 0
) -> tuple[Path, ...]:
    """Write `{subset}-{aspect}-{metric}.svg` for each metric that has a correlation; their paths.

    On the left, a point for each place, in its system's colour; labels are moved a little, because
    equal ones would hide each other. On the right, Spearman's rho of the metric and of the simple
    predictors with their intervals, and, as a line, one person's with the others (the ceiling).
    Raises DataError if the folder cannot be written.
    """
    paths: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for subset, aspects in found.items():
            for aspect, agreement in aspects.items():
                labels = {
                    place: label
                    for place, label in people.labels[aspect].items()
                    if people.subsets[place.conversation] == subset
                }
                for metric in agreement.metrics:
                    scores = predictions[metric]
                    shown = {place: labels[place] for place in labels if place in scores}
                    if len(shown) < _FEWEST:
                        continue
                    name = _NO_FILE_NAME.sub("-", f"{subset}-{aspect}-{metric}")
                    paths.append(folder / f"{name}.svg")
                    title = printable(f"{subset}, {aspect}")
                    _paint(paths[-1], title, metric, agreement, shown, scores, people, seed)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=folder) from None
    return tuple(paths)


def _paint(
    path: Path,
    title: str,
    metric: str,
    agreement: AspectAgreement,
    labels: Mapping[ScoreTarget, float],
    scores: Mapping[ScoreTarget, float],
    people: LabelSet,
    seed: int,
) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rng = np.random.default_rng(seed)
    with mpl.rc_context({"text.parse_math": False, "svg.hashsalt": "recjury"}):
        figure = Figure(figsize=(8, 3.6), layout="constrained")
        cloud, bars = figure.subplots(1, 2, width_ratios=(3, 2))
        spread = float(np.ptp(list(labels.values()))) or 1.0
        by_system: dict[str, list[ScoreTarget]] = {}
        for place in labels:
            by_system.setdefault(people.systems[place.conversation], []).append(place)
        for number, (system, own) in enumerate(sorted(by_system.items())):
            moved = rng.uniform(-0.02, 0.02, len(own)) * spread
            cloud.scatter(
                np.array([labels[place] for place in own]) + moved,
                [scores[place] for place in own],
                s=9,
                alpha=0.5,
                color=_COLOURS[number % len(_COLOURS)],
                marker="os^Dv"[number // len(_COLOURS) % 5],
                label=printable(system)[:30],
            )
        cloud.set_xlabel("people")
        cloud.set_ylabel(printable(metric)[:60])
        cloud.set_title(f"{title}, n = {len(labels)}", size=10)
        if 1 < len(by_system) <= _NAMED:
            cloud.legend(fontsize=6)
        reached = {
            name: each
            for name, each in {metric: agreement.metrics[metric], **agreement.predictors}.items()
            if name != CONSTANT
        }
        for row, each in enumerate(reached.values()):
            _bar(bars, -row, each)
        bars.set_yticks([-row for row in range(len(reached))], [printable(n)[:30] for n in reached])
        ceiling = agreement.ceiling and agreement.ceiling.one_against_the_rest
        if ceiling is not None:
            bars.axvline(ceiling, color="#D55E00", linestyle="--")
            bars.set_title(f"Spearman's rho; one person: {ceiling:.2f}", size=10)
        else:
            bars.set_title("Spearman's rho", size=10)
        bars.axvline(0, color="#888888", linewidth=0.6)
        bars.set_ylim(-len(reached) + 0.4, 0.6)
        figure.savefig(path, metadata={"Date": None})


def _bar(axes: "object", row: int, found: Coefficients) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    rho = None if found.estimates is None else found.estimates.spearman
    if rho is None or rho.value is None:
        return
    axes.plot([rho.value], [row], "o", color="#0072B2")
    if rho.low is not None and rho.high is not None:
        axes.plot([rho.low, rho.high], [row, row], color="#0072B2")
