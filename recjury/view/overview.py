"""A campaign's means and differences: who is ahead, what is drawn, and where links lead."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from recjury.records import Metric
from recjury.results.sentences import Row
from recjury.view.axes import Axis, Plot, Tick, scale_of
from recjury.view.data import Campaign

_BESIDE = ("success", "rounds_to_success", "persuasiveness", "overall", "mean")
"""Metrics that stand beside the leading one in the table of systems, whoever rates them."""

_MOST = 6  # systems of which each pair is listed; of more, the pairs of the best one


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


def by_evaluator(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Rows of a `metric`, by the name of the evaluator."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["metric"].rpartition(".")[0], []).append(row)
    return list(groups.items())


class Overview:
    """The rows of `summary` for a page. `filters` go with every link to trials.

    `names` are the systems, those that are ahead first; `lead` is the id of the leading metric.
    """

    def __init__(self, campaign: Campaign, data: Mapping[str, Any], filters: Mapping[str, str]):
        self._means: Mapping[str, Mapping[str, Row]] = data["systems"]
        known = [row for row in data["comparisons"] if row["n"]]
        self._gaps: Mapping[Any, Row] = {(row["metric"], row["a"], row["b"]): row for row in known}
        self._effort: Mapping[str, Row] = {row["system"]: row for row in data["effort"]}
        self._campaign, self._filters, self.metrics = campaign, filters, campaign.metrics
        self.lead = next(filter(self.has, self.metrics), "")
        gaps = [
            (row["a"], row["b"], row["difference"]) for row in known if row["metric"] == self.lead
        ]
        leading = {name: self.mean(name, self.lead) for name in self._means}
        means = {name: row["mean"] for name, row in leading.items() if row}
        first = ranked(means, gaps, self.metrics[self.lead])
        self.names = [*first, *(name for name in self._means if name not in means)]

    def has(self, id_: str) -> bool:
        """Whether a system has a mean of this metric."""
        return any(id_ in own and own[id_]["n"] for own in self._means.values())

    @property
    def beside(self) -> list[str]:
        """The ids of the table of systems, the leading one first."""
        known = [id_ for id_ in self.metrics if id_.rpartition(".")[2] in _BESIDE]
        return list(dict.fromkeys((self.lead, *filter(self.has, known)))) if self.lead else []

    @property
    def axis(self) -> Axis:
        """The leading metric's scale; without one, what its intervals need."""
        if scale := scale_of(self.metrics[self.lead]):
            return scale
        rows = [own[self.lead] for own in self._means.values() if self.lead in own]
        return Axis.around([row[end] for row in rows for end in ("low", "high", "mean")])

    def mean(self, system: str, id_: str) -> Row | None:
        """A system's mean of a metric, None if there is none."""
        row = self._means[system].get(id_)
        return row if row and row["n"] else None

    def effort(self, system: str) -> Row:
        """The seconds and dollars of a system."""
        return self._effort.get(system, {"seconds": None, "dollars": None})

    def plot(self, system: str) -> Plot | None:
        """A system's leading mean, drawn."""
        row = self.mean(system, self.lead)
        return self.axis.plot(row["mean"], row["low"], row["high"]) if row else None

    def pairs(self) -> tuple[list[Tick], list[Row]]:
        """The differences in the leading metric, told from who is ahead, and their axis."""
        pairs = list(combinations(self.names, 2))
        if len(self.names) > _MOST:
            pairs = pairs[: len(self.names) - 1]
        gaps = [self._gap(self.lead, a, b) for a, b in pairs]
        metric = self.metrics[self.lead]
        return _drawn([ahead(row, metric) for row in gaps if row])

    def factors(self, ids: Iterable[str]) -> tuple[list[Tick], list[Row]]:
        """Metrics, each with the `gap` between the two systems that are ahead, or None."""
        own, first = [*filter(self.has, ids)], self.names[:2]
        gaps = [self._gap(id_, *first) if len(first) == 2 else None for id_ in own]
        ticks, rows = _drawn([gap for gap in gaps if gap])
        drawn = {row["metric"]: row for row in rows}
        return ticks, [{"metric": id_, "gap": drawn.get(id_)} for id_ in own]

    def trials(self, **query: str) -> str:
        """The address of trials."""
        return self._campaign.link("trials", **{**self._filters, **query})

    def compare(self, of: Row) -> str:
        """The address of a difference."""
        metric = "" if of["metric"] == self.lead else of["metric"]
        return self._campaign.link("compare", a=of["a"], b=of["b"], metric=metric)

    def _gap(self, id_: str, a: str, b: str) -> Row | None:
        """The difference of a and b in a metric."""
        row = self._gaps.get((id_, a, b)) or self._gaps.get((id_, b, a))
        return turned(row, a) if row else None


def _drawn(rows: list[Row]) -> tuple[list[Tick], list[Row]]:
    """Rows of comparisons with a `plot` each, on one axis, which has zero."""
    ends = [row[end] for row in rows for end in ("low", "high", "difference")]
    axis = Axis.around(ends, zero=True)
    return axis.ticks, [{**row, "plot": plot_of(row, axis)} for row in rows]
