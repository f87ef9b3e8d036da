"""Rows of a comparison for pages: turned, ranked, drawn, and in texts."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from recjury.records import Metric
from recjury.results.sentences import shown
from recjury.view.axes import Axis, Plot

Row = Mapping[str, Any]
"""A row of `results.compare`, or a mean of `results.means`."""


def plot_of(row: Row, axis: Axis) -> Plot | None:
    """A difference on an axis, with a line at zero."""
    return axis.plot(row["difference"], row["low"], row["high"], ticks=[0.0])


def turned(row: Row, a: str) -> Row:
    """The row as a difference from `a`."""
    if row["a"] == a:
        return row
    other = {"a": row["b"], "b": row["a"], "mean_a": row["mean_b"], "mean_b": row["mean_a"]}
    other |= {"difference": -row["difference"], "low": -row["high"], "high": -row["low"]}
    return {**row, **other}


def ahead(row: Row, metric: Metric) -> Row:
    """The row as a difference from the side that is ahead."""
    is_behind = (row["difference"] < 0) != metric.lower_is_better and row["difference"]
    return turned(row, row["b"] if is_behind else row["a"])


def ranked(
    means: Mapping[str, float], gaps: Iterable[tuple[str, str, float]], metric: Metric
) -> list[str]:
    """The systems, first the one that is ahead of most others, then by their means.

    `gaps` are differences over the scenarios that two have in common: a mean over others may be
    higher because they were easier.
    """
    sign = -1 if metric.lower_is_better else 1
    wins = dict.fromkeys(means, 0)
    for a, b, gap in gaps:
        if a in wins and b in wins:
            wins[a] += sign * gap > 0
            wins[b] += sign * gap < 0
    return sorted(means, key=lambda name: (wins[name], sign * means[name]), reverse=True)


def interval(row: Row, metric: Metric) -> str:
    """`[0.41, 0.78]`, or nothing where there is none."""
    if math.isnan(row["low"]):
        return ""
    return f"[{shown(row['low'], metric)}, {shown(row['high'], metric)}]"


def signed(value: float, metric: Metric) -> str:
    """A difference with its sign."""
    return f"{'+' if value > 0 else ''}{shown(value, metric)}"


def by_evaluator(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Rows of a `metric`, by the name of the evaluator."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["metric"].rpartition(".")[0], []).append(row)
    return list(groups.items())
