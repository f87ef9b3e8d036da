"""A plot of each metric against an aspect's labels, with what else reaches how much."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recjury.agreement.agreement import Agreements, AspectAgreement, Coefficients
from recjury.agreement.label_sets import LabelSet
from recjury.agreement.predictors import CONSTANT
from recjury.agreement.score_files import Scores
from recjury.figures import INK, PALETTE, draw, save
from recjury.records import ScoreTarget
from recjury.safe_text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEWEST = 3  # places
_NAMED = 9  # systems in the legend
_NO_FILE_NAME = re.compile(r"[^\w.+-]+")


def write_agreement_plots(
    found: Agreements, predictions: Scores, people: LabelSet, folder: Path, *, seed: int = 0
) -> tuple[Path, ...]:
    """Write `{subset}-{aspect}-{metric}.svg` for each figure of `agreement_plots`; their paths.

    Raises DataError if the folder cannot be written.
    """
    drawn = agreement_plots(found, predictions, people, seed=seed)
    return tuple(
        save(svg, folder / f"{_NO_FILE_NAME.sub('-', '-'.join(names))}.svg")
        for names, svg in drawn.items()
    )


def agreement_plots(
    found: Agreements, predictions: Scores, people: LabelSet, *, seed: int = 0
) -> dict[tuple[str, str, str], str]:
    """By subset, aspect and metric: SVG of each metric that has scores of three labelled places.

    On the left, a point for each place, in its system's colour; labels are moved a little, because
    equal ones would hide each other. On the right, Spearman's rho of the metric and of the simple
    predictors with their intervals, and, as a line, one person's with the others (the ceiling).
    """
    figures: dict[tuple[str, str, str], str] = {}
    for subset, aspects in found.items():
        for aspect, agreement in aspects.items():
            labels = people.labels_of(aspect, subset)
            for metric in agreement.metrics:
                scores = predictions[metric]
                shown = {place: labels[place] for place in labels if place in scores}
                if len(shown) < _FEWEST:
                    continue
                cloud = _Cloud(shown, scores, people.systems)
                figures[subset, aspect, metric] = _drawn(
                    printable(f"{subset}, {aspect}"), metric, agreement, cloud, seed
                )
    return figures


class _Cloud(NamedTuple):
    """Labels and scores by place, and the system of each conversation."""

    labels: Mapping[ScoreTarget, float]
    scores: Mapping[ScoreTarget, float]
    systems: Mapping[str, str]


def _drawn(title: str, metric: str, agreement: AspectAgreement, cloud: _Cloud, seed: int) -> str:
    def paint(figure: "Figure") -> None:
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _points(left, cloud, seed)
        left.set_ylabel(printable(metric)[:60])
        left.set_title(f"{title}, n = {len(cloud.labels)}")
        _reached(right, metric, agreement)

    return draw(paint, width=8, height=3.6, title=f"{title}: {printable(metric)} and people")


def _points(axes: "Axes", cloud: _Cloud, seed: int) -> None:
    rng = np.random.default_rng(seed)
    spread = float(np.ptp(list(cloud.labels.values()))) or 1.0
    by_system: dict[str, list[ScoreTarget]] = {}
    for place in cloud.labels:
        by_system.setdefault(cloud.systems[place.conversation], []).append(place)
    for number, (system, own) in enumerate(sorted(by_system.items())):
        moved = rng.uniform(-0.02, 0.02, len(own)) * spread
        axes.scatter(
            np.array([cloud.labels[place] for place in own]) + moved,
            [cloud.scores[place] for place in own],
            s=9,
            alpha=0.5,
            color=PALETTE[number % len(PALETTE)],
            marker="os^Dv"[number // len(PALETTE) % 5],
            label=printable(system)[:30],
        )
    axes.set_xlabel("people")
    if 1 < len(by_system) <= _NAMED:
        axes.legend(fontsize=6)


def _reached(axes: "Axes", metric: str, agreement: AspectAgreement) -> None:
    reached = {
        name: each
        for name, each in {metric: agreement.metrics[metric], **agreement.predictors}.items()
        if name != CONSTANT
    }
    for row, each in enumerate(reached.values()):
        _bar(axes, -row, each)
    axes.set_yticks([-row for row in range(len(reached))], [printable(n)[:30] for n in reached])
    ceiling = agreement.ceiling and agreement.ceiling.one_against_the_rest
    if ceiling is not None:
        axes.axvline(ceiling, color=PALETTE[-1], linestyle="--")
        axes.set_title(f"Spearman's rho; one person: {ceiling:.2f}")
    else:
        axes.set_title("Spearman's rho")
    axes.axvline(0, color=INK, linewidth=0.6)
    axes.set_ylim(-len(reached) + 0.4, 0.6)


def _bar(axes: "Axes", row: int, found: Coefficients) -> None:
    rho = None if found.estimates is None else found.estimates.spearman
    if rho is None or rho.value is None:
        return
    axes.plot([rho.value], [row], "o", color=PALETTE[0])
    if rho.low is not None and rho.high is not None:
        axes.plot([rho.low, rho.high], [row, row], color=PALETTE[0])
