"""A campaign's means and differences, as cells, plots and links."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlencode

from recjury.records import Metric
from recjury.results.sentences import p_text, shown, wanted
from recjury.view.axes import Axis, Plot, Tick
from recjury.view.compare import turned
from recjury.view.gaps import signed
from recjury.view.listing import title
from recjury.view.rated import shown as coloured

T = TypeVar("T")

Row = Mapping[str, Any]
"""A mean of `results.means`, or a difference of `results.compare`."""

_BESIDE = ("success", "rounds_to_success", "persuasiveness", "overall", "mean")
"""Metrics that stand beside the leading one in the table of systems, whoever rates them."""

_COVERED = 0.9  # a smaller share of trials with a score is said


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
    address: str
    plot: Plot | None
    cells: list[Cell]
    is_best: bool


class Pair(NamedTuple):
    """A difference, told from the side that is ahead."""

    a: str
    b: str
    address: str
    gap: str
    interval: str
    plot: Plot | None
    decided: bool
    p: str
    more: str


class Factor(NamedTuple):
    """A metric's means, a cell for each system, and its difference between the first two."""

    title: str
    address: str
    cells: list[Cell]
    gap: Pair | None
    agreement: str


class Gaps(NamedTuple, Generic[T]):
    """Rows whose differences are drawn on one axis."""

    ticks: list[Tick]
    rows: list[T]


class Overview:
    """The rows of `summary`, drawn. `filters` go with every link to trials."""

    def __init__(
        self,
        data: Mapping[str, Any],
        metrics: Mapping[str, Metric],
        campaign: str,
        filters: Mapping[str, str],
    ):
        self._means: Mapping[str, Mapping[str, Row]] = data["systems"]
        self._gaps: Sequence[Row] = [row for row in data["comparisons"] if row["n"]]
        self._effort: Mapping[str, Row] = {row["system"]: row for row in data["effort"]}
        self.metrics, self.campaign, self._filters = metrics, campaign, filters
        self.lead = next((id_ for id_ in metrics if self.has(id_)), "")
        self.names = sorted(self._means, key=self._rank)

    def has(self, id_: str) -> bool:
        """Whether a system has a mean of this metric."""
        return any(id_ in own and own[id_]["n"] for own in self._means.values())

    def metric(self, id_: str) -> Metric:
        """The metric of an id."""
        return self.metrics.get(id_) or Metric(name=id_)

    def title(self, id_: str) -> str:
        """Its name for people."""
        return title(self.metric(id_), id_)

    @property
    def beside(self) -> list[str]:
        """The ids of the table of systems, the leading one first."""
        known = [id_ for id_ in self.metrics if id_.rpartition(".")[2] in _BESIDE]
        return list(dict.fromkeys((self.lead, *filter(self.has, known)))) if self.lead else []

    @property
    def axis(self) -> Axis:
        """The leading metric's scale; without one, what its intervals need."""
        metric = self.metric(self.lead)
        if metric.high is not None:
            return Axis(metric.low, metric.high)
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

    def _system(self, name: str) -> System:
        own, spent = self._means[name].get(self.lead), self._effort.get(name, {})
        plot = self.axis.plot(own["mean"], own["low"], own["high"]) if own and own["n"] else None
        cells = [self.cell(name, id_) for id_ in self.beside]
        for key, form in (("seconds", "{:.1f}"), ("dollars", "${:.4f}")):
            value = spent.get(key)
            text = "" if value is None else form.format(value)
            address = self.trials(system=name, sort=f"-{key}")
            cells.append(Cell(text, address, value=math.nan if value is None else value))
        return System(
            name, self.trials(system=name), plot, cells, name == self.names[0] and bool(plot)
        )

    def cell(self, system: str, id_: str) -> Cell:
        """A system's mean of a metric."""
        row, metric = self._means[system].get(id_), self.metric(id_)
        address = self.trials(system=system, sort=id_)
        if row is None or not row["n"]:
            return Cell("", address)
        coverage = "" if row["coverage"] >= _COVERED else f"{row['coverage']:.0%}"
        step, interval = coloured(row["mean"], metric).step, _interval(row, metric)
        return Cell(shown(row["mean"], metric), address, interval, row["mean"], coverage, step)

    def pairs(self) -> Gaps[Pair]:
        """The differences in the leading metric, the better system first."""
        rows = [row for a, b in combinations(self.names, 2) if (row := self._gap(self.lead, a, b))]
        axis = _axis(rows)
        return Gaps(axis.ticks, [self._pair(row, axis) for row in rows])

    def factors(self, ids: Iterable[str], agreement: Mapping[str, float]) -> Gaps[Factor]:
        """The means of metrics, with the difference between the two systems that are ahead."""
        first = self.names[:2]
        rows = {id_: self._gap(id_, *first) if len(first) == 2 else None for id_ in ids}
        axis = _axis([row for row in rows.values() if row])
        factors = [
            Factor(
                self.title(id_),
                self.trials(sort=id_),
                [self.cell(name, id_) for name in self.names],
                self._pair(row, axis) if row else None,
                f"{agreement[id_]:.2f}" if id_ in agreement else "",
            )
            for id_, row in rows.items()
            if self.has(id_)
        ]
        return Gaps(axis.ticks, factors)

    def trials(self, **query: str) -> str:
        """The address of trials."""
        return f"{self.campaign}/trials?{urlencode({**self._filters, **query})}"

    def _gap(self, id_: str, a: str, b: str) -> Row | None:
        """The difference of a and b in a metric."""
        rows = (
            row for row in self._gaps if row["metric"] == id_ and {row["a"], row["b"]} == {a, b}
        )
        return next((turned(row, a) for row in rows), None)

    def _pair(self, row: Row, axis: Axis) -> Pair:
        metric = self.metric(row["metric"])
        query = {"a": row["a"], "b": row["b"], "metric": row["metric"]}
        if row["metric"] == self.lead:
            del query["metric"]
        return Pair(
            a=row["a"],
            b=row["b"],
            address=f"{self.campaign}/compare?{urlencode(query)}",
            gap=signed(row["difference"], metric),
            interval=_interval(row, metric),
            plot=axis.plot(row["difference"], row["low"], row["high"], ticks=[0.0]),
            decided=bool(row["decided"]),
            p="" if math.isnan(row["p"]) else p_text(row["p"]),
            more="" if math.isnan(row["more"]) else f"{wanted(row)} scenarios would",
        )

    def _rank(self, name: str) -> tuple[bool, float]:
        """The best one first, by the leading metric."""
        row = self._means[name].get(self.lead)
        if row is None or not row["n"]:
            return True, 0.0
        return False, row["mean"] * (1 if self.metric(self.lead).lower_is_better else -1)


def _axis(rows: Iterable[Row]) -> Axis:
    """An axis with zero and all intervals."""
    return Axis.around([row[end] for row in rows for end in ("low", "high")], zero=True)


def _interval(row: Row, metric: Metric) -> str:
    low, high = row["low"], row["high"]
    return "" if math.isnan(low) else f"[{shown(low, metric)}, {shown(high, metric)}]"
