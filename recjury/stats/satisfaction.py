"""Scores against satisfaction labels: correlations, and both classes of defects.

These are the figures of Jia et al. (2024, tables 2 to 4). Micro F1 is the usual one, over both
classes, and so equals accuracy; the one in table 3 contradicts its own precision and recall.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.records import JSON
from recjury.stats.correlation import correlate

DEFECT = 3.0
"""A score or label up to this, on a scale from 1 to 5, is a defect."""


class ClassFigures(NamedTuple):
    """Precision, recall and F1 of a class; None where the class was never predicted, never there,
    or neither."""

    precision: float | None
    recall: float | None
    f1: float | None


class SatisfactionFigures(NamedTuple):
    """The figures over `n` scores; `defect_rate` is the share of defects among the labels.

    `weighted` and `macro` are means over the two classes, by their share among the labels or equal;
    an undefined figure counts as 0 there, and a class that neither has is left out.
    """

    n: int
    spearman: float | None
    pearson: float | None
    defect_rate: float
    accuracy: float
    defect: ClassFigures
    non_defect: ClassFigures
    weighted: ClassFigures
    macro: ClassFigures

    @property
    def micro_f1(self) -> float:
        """F1 over all decisions of both classes together: the accuracy."""
        return self.accuracy

    def as_json(self) -> dict[str, JSON]:
        """The figures by name, those of classes as objects."""
        plain = {
            name: value._asdict() if isinstance(value, ClassFigures) else value
            for name, value in self._asdict().items()
        }
        return {
            **plain,
            "weighted_f1": self.weighted.f1,
            "macro_f1": self.macro.f1,
            "micro_f1": self.micro_f1,
        }


def satisfaction_figures(
    scores: Sequence[float] | NDArray[np.float64],
    labels: Sequence[float] | NDArray[np.float64],
    *,
    threshold: float = DEFECT,
) -> SatisfactionFigures:
    """The figures of `scores` [n] against `labels` [n]; both are defects up to `threshold`.

    Raises ValueError for different lengths, and without any score.
    """
    given, true = np.asarray(scores, dtype=float), np.asarray(labels, dtype=float)
    found = correlate(given, true)
    if not found.n:
        raise ValueError("expected at least one score")
    said, is_one = given <= threshold, true <= threshold
    defect, non_defect = _of_class(said, is_one), _of_class(~said, ~is_one)
    rate = float(is_one.mean())
    return SatisfactionFigures(
        n=found.n,
        spearman=found.spearman,
        pearson=found.pearson,
        defect_rate=rate,
        accuracy=float((said == is_one).mean()),
        defect=defect,
        non_defect=non_defect,
        weighted=_mean((defect, rate), (non_defect, 1 - rate)),
        macro=_mean((defect, 1.0), (non_defect, 1.0)),
    )


def mean_figures(several: Sequence[SatisfactionFigures]) -> SatisfactionFigures:
    """The mean of each figure over several runs; None where it is undefined in one of them.

    Raises ValueError without any run.
    """
    if not several:
        raise ValueError("expected at least one run")
    columns = zip(*several, strict=True)
    plain = [_mean_of(column) for column in columns]
    return SatisfactionFigures(*plain)._replace(n=min(each.n for each in several))


def _mean_of(column: Sequence[Any]) -> Any:
    if isinstance(column[0], ClassFigures):
        return ClassFigures(*map(_mean_of, zip(*column, strict=True)))
    return None if None in column else fmean(column)


def _of_class(said: NDArray[np.bool_], true: NDArray[np.bool_]) -> ClassFigures:
    hits, predicted, there = int((said & true).sum()), int(said.sum()), int(true.sum())
    return ClassFigures(
        precision=hits / predicted if predicted else None,
        recall=hits / there if there else None,
        f1=2 * hits / (predicted + there) if predicted + there else None,
    )


def _mean(*weighted: tuple[ClassFigures, float]) -> ClassFigures:
    known = [(figures, weight) for figures, weight in weighted if figures.f1 is not None]
    total = sum(weight for _, weight in known)
    return ClassFigures(
        *(
            sum((figures[place] or 0.0) * weight for figures, weight in known) / total
            for place in range(len(ClassFigures._fields))
        )
    )
