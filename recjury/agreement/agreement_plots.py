"""A plot of each metric against an aspect's labels, with what else reaches how much."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recjury.agreement.agreement import Agreements, AspectAgreement
from recjury.agreement.label_sets import LabelSet
from recjury.agreement.predictors import CONSTANT
from recjury.agreement.score_files import Scores
from recjury.corpora.writing import write_file
from recjury.records import ScoreTarget
from recjury.tables.figure import (
    PALETTE,
    Axis,
    Figure,
    FigurePanel,
    Point,
    Series,
    Style,
    interval,
    rows,
    style,
    vertical,
)
from recjury.tables.pictures import picture

_FEWEST = 3  # places
_NAMED = 9  # systems in the legend
_NO_FILE_NAME = re.compile(r"[^\w.+-]+")


def write_agreement_plots(
    found: Agreements, predictions: Scores, people: LabelSet, folder: Path, *, seed: int = 0
) -> tuple[Path, ...]:
    """Write `{subset}-{aspect}-{metric}.svg` for each figure of `agreement_plots`; their paths.

    Raises DataError if the folder cannot be written.
    """
    paths: list[Path] = []
    for names, figure in agreement_plots(found, predictions, people, seed=seed).items():
        paths.append(folder / f"{_NO_FILE_NAME.sub('-', '-'.join(names))}.svg")
        write_file(paths[-1], [picture(figure)])
    return tuple(paths)


def agreement_plots(
    found: Agreements, predictions: Scores, people: LabelSet, *, seed: int = 0
) -> dict[tuple[str, str, str], Figure]:
    """By subset, aspect and metric: each metric that has scores of three labelled places.

    On the left, a point for each place, in its system's colour; labels are moved a little, because
    equal ones would hide each other. On the right, Spearman's rho of the metric and of the simple
    predictors with their intervals, and, as a line, one person's with the others (the ceiling).
    """
    figures: dict[tuple[str, str, str], Figure] = {}
    for subset, aspects in found.items():
        for aspect, agreement in aspects.items():
            labels = people.labels_of(aspect, subset)
            for metric in agreement.metrics:
                scores = predictions[metric]
                shown = {place: labels[place] for place in labels if place in scores}
                if len(shown) < _FEWEST:
                    continue
                cloud = _Cloud(shown, scores, people.systems)
                title = f"{subset}, {aspect}"
                figures[subset, aspect, metric] = Figure(
                    title=f"{title}: {metric} and people",
                    panels=(_points(title, metric, cloud, seed), _reached(metric, agreement)),
                    width=576,
                    height=200,
                )
    return figures


class _Cloud(NamedTuple):
    """Labels and scores by place, and the system of each conversation."""

    labels: Mapping[ScoreTarget, float]
    scores: Mapping[ScoreTarget, float]
    systems: Mapping[str, str]


def _points(title: str, metric: str, cloud: _Cloud, seed: int) -> FigurePanel:
    rng = np.random.default_rng(seed)
    spread = float(np.ptp(list(cloud.labels.values()))) or 1.0
    by_system: dict[str, list[ScoreTarget]] = {}
    for place in cloud.labels:
        by_system.setdefault(cloud.systems[place.conversation], []).append(place)
    has_legend = 1 < len(by_system) <= _NAMED
    marks: list[Series] = []
    for number, (system, places) in enumerate(sorted(by_system.items())):
        moved = rng.uniform(-0.02, 0.02, len(places)) * spread
        points = tuple(
            Point(cloud.labels[place] + shift, cloud.scores[place])
            for place, shift in zip(places, moved.tolist(), strict=True)
        )
        look = replace(style(number), width=0, size=3.5, opacity=0.5)
        marks.append(Series(points, system[:30] if has_legend else "", look))
    return FigurePanel(
        marks=tuple(marks),
        x=Axis(label="people"),
        y=Axis(label=metric[:60]),
        title=f"{title}, n = {len(cloud.labels)}",
    )


def _reached(metric: str, agreement: AspectAgreement) -> FigurePanel:
    reached = {
        name: each
        for name, each in {metric: agreement.metrics[metric], **agreement.predictors}.items()
        if name != CONSTANT
    }
    ends = -0.5, len(reached) - 0.5
    marks = [vertical(0, *ends)]
    for row, each in enumerate(reached.values()):
        rho = None if each.estimates is None else each.estimates.spearman
        if rho is not None and rho.value is not None:
            marks += interval(row, rho.value, rho.low, rho.high)
    title = "Spearman's rho"
    ceiling = agreement.ceiling and agreement.ceiling.one_against_the_rest
    if ceiling is not None:
        look = Style(color=PALETTE[-1], marker="", dash="4 2")
        marks.append(vertical(ceiling, *ends, look))
        title += f"; one person: {ceiling:.2f}"
    return FigurePanel(marks=tuple(marks), y=rows([name[:30] for name in reached]), title=title)
