"""Two systems, versions, users, evaluators or campaigns, paired: differences by metric."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args
from urllib.parse import quote

from recjury.errors import UserError
from recjury.files import nearest
from recjury.records import Metric
from recjury.results.compare import By, by_scenario, compare
from recjury.results.comparison import metrics_by, ratings_of_all
from recjury.results.ratings import trials_of
from recjury.results.sentences import answer, p_text, rows_of, shown
from recjury.store import Store
from recjury.view.gaps import MOST, Key, fall, scale_of, scenarios, signed
from recjury.view.kept import frame_of, kept
from recjury.view.rendering import Page

if TYPE_CHECKING:
    import pandas as pd

_SPANS = (0.25, 0.5, 1.0)  # of a scale, to either side of zero


class Difference(NamedTuple):
    """A metric's row. `x`, `low` and `high` are in per cent of the plot; texts are for cells."""

    id: str
    title: str
    gap: str
    interval: str
    x: tuple[float, float, float] | None
    p: str
    decided: bool
    means: tuple[str, str]
    n: int
    values: tuple[float, float]


class Sides(NamedTuple):
    """What is compared, and the frame that has it."""

    by: By
    a: str
    b: str
    names: list[str]
    frame: "pd.DataFrame"
    metrics: Mapping[str, Metric]
    all_pairs: bool


def compare_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002
    """`a` and `b`, by default the first two, of what `by` names; scenarios by gap in `metric`.

    Raises UserError for names that are not there, and if there is nothing to compare.
    """
    sides = _sides(store, query, store.campaign(id))
    names = () if sides.all_pairs else (sides.a, sides.b)
    table = kept(
        store,
        ("compared", id, sides.by, names),
        lambda: compare(sides.frame, names, by=sides.by, order=list(sides.metrics)),
    )
    rows = [turned(row, sides.a) for row in rows_of(table) if {row["a"], row["b"]} == {*sides[1:3]}]
    lead = query.get("metric") or str(rows[0]["metric"])
    metric = sides.metrics.get(lead) or Metric(name=lead)
    gaps = by_scenario(sides.frame, sides.a, sides.b, metric=lead, by=sides.by)
    span = _span(rows, sides.metrics)
    return Page(
        "compare.j2",
        {
            "campaign": f"/c/{quote(id, safe='')}",
            "name": id,
            "sides": sides,
            "choices": get_args(By),
            "answer": answer(_frame(rows), sides.metrics).split("\n"),
            "paired": bool(rows[0]["paired"]),
            "n": rows[0]["n"],
            "span": span,
            "groups": _groups([_difference(row, sides.metrics, span) for row in rows if row["n"]]),
            "metric": lead,
            "title": metric.title or lead,
            "wins": int((gaps["gap"] > 0).sum()),
            "losses": int((gaps["gap"] < 0).sum()),
            "ties": int((gaps["gap"] == 0).sum()),
            "fall": fall(gaps, metric),
            "gaps": list(
                scenarios(store, gaps, metric, _conversations(sides, gaps), (sides.a, sides.b))
            ),
            "hidden": max(0, len(gaps) - MOST),
        },
    )


def _sides(store: Store, query: Mapping[str, str], campaign: str) -> Sides:
    by: By = next((each for each in get_args(By) if each == query.get("by")), "system")
    frame, names = frame_of(store, campaign), store.campaigns()
    if by != "campaign":
        names = [str(name) for name in frame[by].drop_duplicates()]
    if by == "system":
        older = trials_of(store, campaign, all_versions=True)["system"].unique()
        names = list(dict.fromkeys((*names, *map(str, older))))
    first = query.get("a") or (campaign if by == "campaign" else "")
    a, b = _two((first, query.get("b", "")), names, by)
    campaigns, versions = [campaign], by == "system" and "@" in a + b
    if by == "campaign":
        campaigns = [a, b]
    if by == "campaign" or versions:
        key = ("ratings", *campaigns, versions)
        frame = kept(store, key, lambda: ratings_of_all(store, campaigns, all_versions=versions))
    all_pairs = by != "campaign" and not versions
    return Sides(by, a, b, names, frame, metrics_by(store, campaigns, by), all_pairs)


def _two(wanted: Sequence[str], names: Sequence[str], by: By) -> tuple[str, str]:
    """The names of both sides; one that is not given is the first that is left."""
    for name in filter(None, wanted):
        if name not in names:
            raise UserError(f"there is no {by} {name!r}{nearest(name, names)}: {', '.join(names)}")
    a, b = wanted
    left = iter([name for name in names if name not in wanted])
    a = a or next(left, "")
    b = b or next(left, "")
    if not (a and b) or a == b:
        raise UserError(f"two {by}s are wanted, there is {', '.join(names) or 'none'}")
    return a, b


def turned(row: Mapping[str, Any], a: str) -> dict[str, Any]:
    """The row as a difference from `a`."""
    if row["a"] == a:
        return dict(row)
    turned = {"a": row["b"], "b": row["a"], "mean_a": row["mean_b"], "mean_b": row["mean_a"]}
    turned |= {"difference": -row["difference"], "low": -row["high"], "high": -row["low"]}
    return {**row, **turned}


def _frame(rows: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(rows)


def _span(rows: Sequence[Mapping[str, Any]], metrics: Mapping[str, Metric]) -> float:
    """The part of a scale that all intervals fit in, to either side of zero."""
    widest = 0.0
    for row in rows:
        scale = scale_of(metrics.get(row["metric"]) or Metric(name=""))
        if scale and row["n"]:
            ends = [abs(row[name]) for name in ("difference", "low", "high")]
            widest = max(widest, *(end / scale for end in ends if end == end))
    return next((span for span in _SPANS if widest <= span), _SPANS[-1])


def _difference(row: Mapping[str, Any], metrics: Mapping[str, Metric], span: float) -> Difference:
    id_ = str(row["metric"])
    metric = metrics.get(id_) or Metric(name=id_)
    ends = (row["difference"], row["low"], row["high"])
    scale = scale_of(metric)
    half = scale * span if scale else max(abs(end) for end in ends) or 1.0
    known = all(end == end for end in ends)
    return Difference(
        id=id_,
        title=metric.title or id_,
        gap=signed(row["difference"], metric),
        interval=f"[{shown(row['low'], metric)}, {shown(row['high'], metric)}]" if known else "",
        x=(_at(ends[0], half), _at(ends[1], half), _at(ends[2], half)) if known else None,
        p="" if row["p"] != row["p"] else p_text(row["p"]),
        decided=bool(row["decided"]),
        means=(shown(row["mean_a"], metric), shown(row["mean_b"], metric)),
        n=int(row["n"]),
        values=(float(row["difference"]), float(row["p"])),
    )


def _at(value: float, half: float) -> float:
    """Where a difference stands in a plot from -half to +half, in per cent."""
    return round(50 + 47 * min(max(value / half, -1.0), 1.0), 2)


def _groups(rows: Sequence[Difference]) -> list[tuple[str, list[Difference]]]:
    """The rows by evaluator."""
    groups: dict[str, list[Difference]] = {}
    for row in rows:
        groups.setdefault(row.id.rpartition(".")[0], []).append(row)
    return list(groups.items())


def _conversations(sides: Sides, gaps: "pd.DataFrame") -> dict[tuple[str, Key], str]:
    """The first conversation of each side in each scenario."""
    keys = list(gaps.index.names)
    frame = sides.frame[sides.frame[sides.by].isin(sides[1:3])]
    rows = frame.drop_duplicates([sides.by, *keys])[[sides.by, "conversation", *keys]].astype(str)
    return {
        (name, tuple(key)): conversation
        for name, conversation, *key in rows.itertuples(index=False, name=None)
    }
