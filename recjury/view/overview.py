"""A campaign's means and differences, as cells, plots and links."""

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from recjury.results.sentences import shown
from recjury.view.axes import Axis, Plot, Tick
from recjury.view.data import Campaign
from recjury.view.differences import (
    Difference,
    Row,
    ahead,
    difference,
    interval,
    ranked,
    turned,
)
from recjury.view.metrics import scale_of
from recjury.view.rated import shown as coloured

_BESIDE = ("success", "rounds_to_success", "persuasiveness", "overall", "mean")
"""Metrics that stand beside the leading one in the table of systems, whoever rates them."""

_COVERED = 0.9  # a smaller share of trials with a score is said
_MOST = 6  # systems of which each pair is listed; of more, the pairs of the best one


class Cell(NamedTuple):
    """A mean in a table ("" if there is none) and the trials behind it; `step` is its colour."""

    text: str
    address: str
    interval: str = ""
    value: float = math.nan
    coverage: str = ""
    step: int | None = None


class System(NamedTuple):
    """A row of the table of systems; `plot` is of the leading metric."""

    name: str
    plot: Plot | None
    cells: list[Cell]


class Factor(NamedTuple):
    """A metric's means, a cell for each system, and its difference between the first two."""

    id: str
    cells: list[Cell]
    gap: Difference | None


class Overview:
    """The rows of `summary`, drawn. `filters` go with every link to trials.

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
        means = {name: own[self.lead]["mean"] for name, own in self._means.items() if self._n(own)}
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
        return Axis.around([row[end] for row in rows for end in ("low", "high")])

    def systems(self, sort: str = "") -> list[System]:
        """The systems, the best one first, or by a metric (`-` before its id: descending)."""
        rows = [self._system(name) for name in self.names]
        key, keys = sort.removeprefix("-"), [*self.beside, "seconds", "dollars"]
        if key in keys:
            place = keys.index(key)
            sign = -1 if sort.startswith("-") else 1
            rows.sort(key=lambda row: (not row.cells[place].text, sign * row.cells[place].value))
        elif key == "system":
            rows.sort(key=lambda row: row.name, reverse=sort.startswith("-"))
        return rows

    def cell(self, system: str, id_: str) -> Cell:
        """A system's mean of a metric."""
        row, metric = self._means[system].get(id_), self.metrics[id_]
        address = self.trials(system=system, sort=id_)
        if row is None or not row["n"]:
            return Cell("", address)
        coverage = "" if row["coverage"] >= _COVERED else f"{row['coverage']:.0%}"
        step = coloured(row["mean"], metric).step
        text = shown(row["mean"], metric)
        return Cell(text, address, interval(row, metric), row["mean"], coverage, step)

    def pairs(self) -> tuple[list[Tick], list[Difference]]:
        """The differences in the leading metric, told from who is ahead, and their axis."""
        pairs = list(combinations(self.names, 2))
        if len(self.names) > _MOST:
            pairs = pairs[: len(self.names) - 1]
        gaps = [self._gap(self.lead, a, b) for a, b in pairs]
        metric = self.metrics[self.lead]
        return self._drawn([ahead(row, metric) for row in gaps if row])

    def factors(self, ids: Iterable[str]) -> tuple[list[Tick], list[Factor]]:
        """The means of metrics, with the difference between the two systems that are ahead."""
        own, first = [*filter(self.has, ids)], self.names[:2]
        gaps = [self._gap(id_, *first) if len(first) == 2 else None for id_ in own]
        ticks, rows = self._drawn([gap for gap in gaps if gap])
        drawn = {row.id: row for row in rows}
        return ticks, [
            Factor(id_, [self.cell(name, id_) for name in self.names], drawn.get(id_))
            for id_ in own
        ]

    def trials(self, **query: str) -> str:
        """The address of trials."""
        return self._campaign.link("trials", **{**self._filters, **query})

    def compare(self, of: Difference) -> str:
        """The address of a difference."""
        metric = "" if of.id == self.lead else of.id
        return self._campaign.link("compare", a=of.a, b=of.b, metric=metric)

    def _n(self, means: Mapping[str, Row]) -> int:
        """Of how many trials a system's leading mean is."""
        return int(means[self.lead]["n"]) if self.lead in means else 0

    def _system(self, name: str) -> System:
        means, spent = self._means[name], self._effort.get(name, {})
        own = means[self.lead] if self._n(means) else None
        plot = self.axis.plot(own["mean"], own["low"], own["high"]) if own else None
        cells = [self.cell(name, id_) for id_ in self.beside]
        for key, form in (("seconds", "{:.1f}"), ("dollars", "${:.4f}")):
            value = spent.get(key)
            text = "" if value is None else form.format(value)
            address = self.trials(system=name, sort=f"-{key}")
            cells.append(Cell(text, address, value=math.nan if value is None else value))
        return System(name, plot, cells)

    def _gap(self, id_: str, a: str, b: str) -> Row | None:
        """The difference of a and b in a metric."""
        row = self._gaps.get((id_, a, b)) or self._gaps.get((id_, b, a))
        return turned(row, a) if row else None

    def _drawn(self, rows: list[Row]) -> tuple[list[Tick], list[Difference]]:
        """Rows of comparisons on one axis, which has zero."""
        axis = Axis.around([row[end] for row in rows for end in ("low", "high")], zero=True)
        return axis.ticks, [difference(row, self.metrics, axis) for row in rows]
