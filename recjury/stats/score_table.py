"""Scores beside labels as columns, and how far they go together: in all, and between systems."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.stats.correlation import correlate as correlate_columns
from recjury.stats.resampled import CorrelationEstimates, correlations

_Floats = NDArray[np.float64]
_Names = NDArray[np.str_]

FEWEST_SYSTEMS = 3
"""Fewer systems have no rank correlation worth the name."""


class ScoreRow(NamedTuple):
    """A row of a `ScoreTable`: one item that a metric scored, and that has a label."""

    item: str
    metric: str
    score: float
    label: float
    system: str
    cluster: str


@dataclass(frozen=True)
class ScoreTable:
    """Scores beside labels: columns of one length [n].

    `label` is what the score is held against: people's labels, or words. Rows of one `cluster` are
    drawn together in a resample.
    """

    item: _Names
    metric: _Names
    score: _Floats
    label: _Floats
    system: _Names
    cluster: _Names

    @classmethod
    def of_rows(cls, rows: Sequence[ScoreRow]) -> "ScoreTable":
        """The table of these rows."""
        columns = list(zip(*rows, strict=True)) or [()] * len(fields(cls))
        item, metric, score, label, system, cluster = columns
        return cls(
            np.array(item, dtype=str),
            np.array(metric, dtype=str),
            np.array(score, dtype=float),
            np.array(label, dtype=float),
            np.array(system, dtype=str),
            np.array(cluster, dtype=str),
        )

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.score)

    @property
    def systems(self) -> list[str]:
        """The names of the systems, sorted."""
        return sorted(set(self.system.tolist()))

    def rows(self, chosen: "NDArray[np.bool_] | NDArray[np.int64]") -> "ScoreTable":
        """The rows of a mask [n], or of indices, which may repeat."""
        return ScoreTable(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def groups(self, by: str) -> "dict[str, ScoreTable]":
        """The rows of each value of the column `by` ("metric", "system"), in their order."""
        column = getattr(self, by)
        return {name: self.rows(column == name) for name in dict.fromkeys(column.tolist())}


def correlate(
    table: ScoreTable, *, by: str = "metric", resamples: int = 2_000, seed: int = 0
) -> dict[str, CorrelationEstimates]:
    """Scores against labels for each value of the column `by`, with intervals by cluster."""
    return {
        name: correlations(
            rows.score, rows.label, rows.cluster, rows.system, resamples=resamples, seed=seed
        )
        for name, rows in table.groups(by).items()
    }


def means_by_system(values: _Floats, system: NDArray[np.intp], systems: int) -> _Floats:
    """The mean of each system; nan for one without a value."""
    counts = np.bincount(system, minlength=systems)
    sums = np.bincount(system, weights=values, minlength=systems)
    means: _Floats = np.divide(sums, counts, out=np.full(systems, np.nan), where=counts > 0)
    return np.round(means, 9)  # equal means may differ in their last bits


def three_coefficients(x: _Floats, y: _Floats) -> list[float | None]:
    """Pearson's r, Spearman's rho and Kendall's tau-b over the places that are no nan."""
    from scipy.stats import kendalltau

    both = ~(np.isnan(x) | np.isnan(y))
    if both.sum() < FEWEST_SYSTEMS:
        return [None, None, None]
    found = correlate_columns(x[both], y[both])
    if found.spearman is None:
        return [None, None, None]
    return [found.pearson, found.spearman, float(kendalltau(x[both], y[both]).statistic)]
