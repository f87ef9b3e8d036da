"""A campaign: the answer, systems, who is ahead of whom, what not to trust, factors, debates."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from recjury.records import DEBATE, Metric
from recjury.results import Findings, summary
from recjury.results.metrics import metrics_of
from recjury.results.ratings import FACTOR_KINDS
from recjury.results.sentences import p_text, shown
from recjury.store import Store
from recjury.view.axes import Axis, Plot
from recjury.view.debates import Panel, panels
from recjury.view.kept import frame_of, kept
from recjury.view.looking import Look, looks
from recjury.view.progress import live
from recjury.view.rendering import Page

_BESIDE = ("success", "rounds_to_success", "persuasiveness", "overall", "mean")
"""Metrics that stand beside the leading one in the table of systems, whoever rates them."""

_STEPS = 8  # of the colours of a factor's scale


class Cell(NamedTuple):
    """A mean in a table, with the address of the trials behind it. `step` is its colour."""

    text: str
    address: str
    value: float
    coverage: str = ""
    step: int = 0


class System(NamedTuple):
    """A row of the table of systems."""

    name: str
    address: str
    plot: Plot | None
    cells: list[Cell]
    is_best: bool


class Pair(NamedTuple):
    """A difference in the leading metric."""

    a: str
    b: str
    address: str
    gap: str
    interval: str
    plot: Plot | None
    decided: bool
    p: str
    more: str


def campaign_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002, ARG001
    """The page of a campaign. Raises UserError if there is none."""
    name = store.campaign(id)
    found = kept(store, ("summary", name), lambda: summary(store, name))
    metrics = metrics_of(store, name)
    means: Mapping[str, Mapping[str, Any]] = found.data["systems"]
    lead = next((m for m in metrics if any(_known(of.get(m)) for of in means.values())), "")
    draw = _Drawing(f"/c/{quote(name, safe='')}", metrics, means, lead)
    factors, runs = factors_of_judges(store, name, metrics), store.runs(name)
    return Page(
        "campaign.j2",
        {
            "name": name,
            "campaign": draw.address,
            "state": runs[0].state if runs else "planned",
            "begun": runs[-1].started_at[:16].replace("T", " ") if runs else "",
            "live": live(store, name),
            "answer": found.answer.splitlines(),
            "lead": metrics[lead].title or lead if lead else "",
            "axis": draw.axis.ticks,
            "heads": [(id_, _title(id_, metrics)) for id_ in draw.beside],
            "systems": list(draw.systems()),
            "pairs": list(draw.pairs(found)),
            "pair_axis": draw.gaps(found).ticks,
            "notes": (*found.notes, *found.problems),
            "factors": list(draw.rows(factors)),
            "outcomes": list(draw.rows(_others(draw, factors))),
            "names": list(means),
            "panels": _panels(store, name),
            "looks": _looks(store, name, lead),
            "trials": len(frame_of(store, name)["conversation"].unique()),
        },
    )


def _panels(store: Store, name: str) -> list[Panel]:
    return kept(store, ("panels", name), lambda: list(panels(store, name)))


def _looks(store: Store, name: str, lead: str) -> list[Look]:
    return kept(store, ("looks", name), lambda: list(looks(store, name, lead)))


class _Drawing(NamedTuple):
    """Means and differences as cells and plots."""

    address: str
    metrics: Mapping[str, Metric]
    means: Mapping[str, Mapping[str, Any]]
    lead: str

    @property
    def beside(self) -> list[str]:
        """The metrics of the table of systems, the leading one first."""
        others = [m for m in self.metrics if m != self.lead and m.rpartition(".")[2] in _BESIDE]
        known = [m for m in others if any(_known(of.get(m)) for of in self.means.values())]
        return [self.lead, *known] if self.lead else []

    @property
    def axis(self) -> Axis:
        """The leading metric's scale; without one, what its intervals need."""
        metric = self.metrics.get(self.lead) or Metric(name="")
        if metric.high is not None:
            return Axis(metric.low or 0.0, metric.high)
        known = [of[self.lead] for of in self.means.values() if _known(of.get(self.lead))]
        return Axis.around([each[end] for each in known for end in ("low", "high")])

    def systems(self) -> Iterator[System]:
        """The systems, the best one first."""
        sign = -1 if self.lead and not self.metrics[self.lead].lower_is_better else 1

        def order(name: str) -> tuple[bool, float]:
            found = self.means[name].get(self.lead)
            return not _known(found), sign * found["mean"] if _known(found) and found else 0.0

        for number, name in enumerate(sorted(self.means, key=order)):
            own = self.means[name].get(self.lead)
            plot = (
                self.axis.plot(own["mean"], own["low"], own["high"])
                if _known(own) and own
                else None
            )
            cells = [self._cell(name, metric) for metric in self.beside]
            yield System(name, self._trials(system=name), plot, cells, not number and bool(plot))

    def rows(self, ids: Sequence[str]) -> Iterator[tuple[str, str, list[Cell]]]:
        """The metrics that have a mean: title, the address of their trials, a cell a system."""
        for id_ in ids:
            cells = [self._cell(name, id_) for name in self.means]
            if any(cell.text for cell in cells):
                yield _title(id_, self.metrics), self._trials(sort=id_), cells

    def gaps(self, found: Findings) -> Axis:
        """The axis of the differences in the leading metric."""
        rows = [row for row in found.data["comparisons"] if row["metric"] == self.lead]
        return Axis.around([row[end] for row in rows for end in ("low", "high")], zero=True)

    def pairs(self, found: Findings) -> Iterator[Pair]:
        """The differences in the leading metric, told from the side that is ahead."""
        axis = self.gaps(found)
        metric = self.metrics.get(self.lead) or Metric(name="")
        for row in found.data["comparisons"]:
            if row["metric"] != self.lead or math.isnan(row["difference"]):
                continue
            turn = (row["difference"] < 0) != metric.lower_is_better
            a, b = (row["b"], row["a"]) if turn else (row["a"], row["b"])
            gap, low, high = row["difference"], row["low"], row["high"]
            if row["difference"] < 0:
                gap, low, high = -gap, -high, -low
            interval = "" if math.isnan(low) else f"[{shown(low, metric)}, {shown(high, metric)}]"
            yield Pair(
                a=a,
                b=b,
                address=f"{self.address}/compare?{urlencode({'a': a, 'b': b})}",
                gap=shown(gap, metric),
                interval=interval,
                plot=axis.plot(gap, low, high, ticks=[0.0]),
                decided=bool(row["decided"]),
                p="" if math.isnan(row["p"]) else p_text(row["p"]),
                more="" if math.isnan(row["more"]) else f"≈ {row['more']:,.0f} more",
            )

    def _cell(self, system: str, id_: str) -> Cell:
        found, metric = self.means[system].get(id_), self.metrics.get(id_) or Metric(name=id_)
        address = self._trials(system=system, sort=id_)
        if found is None or not _known(found):
            return Cell("", address, math.nan)
        coverage = "" if found["coverage"] > 0.9 else f"{100 * found['coverage']:.0f} %"
        low, high = metric.low or 0.0, metric.high or 0.0
        share = (found["mean"] - low) / (high - low) if high > low else 0.0
        step = round(_STEPS * min(max(share, 0.0), 1.0))
        return Cell(shown(found["mean"], metric), address, found["mean"], coverage, step)

    def _trials(self, **query: str) -> str:
        return f"{self.address}/trials?{urlencode(query)}"


def _known(found: Mapping[str, Any] | None) -> bool:
    return found is not None and bool(found["n"])


def _title(id_: str, metrics: Mapping[str, Metric]) -> str:
    return metrics[id_].title or id_ if id_ in metrics else id_


def factors_of_judges(store: Store, name: str, metrics: Mapping[str, Metric]) -> list[str]:
    """What judges rate, but for the sums."""
    frame = frame_of(store, name)
    rows = frame[frame["kind"].isin(FACTOR_KINDS) & (frame["rater"] != DEBATE)]
    seen = {f"{e}.{m}" for e, m in rows[["evaluator", "metric"]].drop_duplicates().to_numpy()}
    return [id_ for id_ in metrics if id_ in seen]


def _others(draw: _Drawing, factors: Sequence[str]) -> list[str]:
    """All metrics that stand nowhere else: recall, endings, what own evaluators rate."""
    return [id_ for id_ in draw.metrics if id_ not in {*draw.beside, *factors}]
