"""What `recjury compare` shows: who is ahead on what, and whether that is decided."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recjury.records import Metric
from recjury.results.caveats import about_logs, about_scores
from recjury.results.compare import By, compare
from recjury.results.findings import Findings
from recjury.results.metrics import metrics_of
from recjury.results.ratings import ratings
from recjury.results.sentences import (
    Row,
    answer,
    cell,
    listed,
    p_text,
    rows_of,
    shown,
    wanted,
)
from recjury.store import Store

if TYPE_CHECKING:
    import pandas as pd


def comparison(
    store: Store,
    names: Sequence[str] = (),
    *,
    by: By = "system",
    campaign: str = "",
    metrics: Sequence[str] = (),
) -> Findings:
    """The differences between systems of a campaign, or between users, evaluators or campaigns.

    `mine@1a2b` is the version of `mine` that begins so. `data` has `comparisons`: the rows of
    `results.compare`. Raises UserError for unknown names, and if there is nothing to compare.
    """
    if by == "campaign":
        campaigns = [store.campaign(name) for name in names]
        campaigns = campaigns if len(names) > 1 else store.campaigns()
    else:
        campaigns = [store.campaign(campaign)]
    versions = by == "system" and any("@" in name for name in names)
    frame = ratings_of_all(store, campaigns, all_versions=versions)
    known = metrics_by(store, campaigns, by)
    table = compare(frame, names, by=by, metrics=metrics, order=list(known))
    sides = list(dict.fromkeys((*table["a"], *table["b"])))
    notes = (
        *_about_pairs(table),
        *about_scores(frame[frame[by].isin(sides)], by=by),
        *about_logs(store, frame[frame[by].isin(sides)]),
    )
    lead = rows_of(table)[0]
    return Findings(
        title=" · ".join(campaigns),
        answer=answer(table, known),
        tables=_tables(table, known),
        notes=notes,
        data={
            "campaign": campaigns[0],
            "by": by,
            "comparisons": rows_of(table),
            "first_is_better_by": _better_by(lead, known),
            "caveats": list(notes),
        },
    )


def ratings_of_all(
    store: Store, campaigns: Sequence[str], *, all_versions: bool = False
) -> "pd.DataFrame":
    """The ratings of several campaigns as one frame, in the form of `results.ratings`."""
    import pandas as pd

    frames = [ratings(store, name, all_versions=all_versions) for name in campaigns]
    if len(frames) == 1:
        return frames[0]
    texts = [name for name, kind in frames[0].dtypes.items() if kind == "category"]
    joined = pd.concat([frame.astype(dict.fromkeys(texts, object)) for frame in frames])
    return joined.astype(dict.fromkeys(texts, "category")).reset_index(drop=True)


def metrics_by(store: Store, campaigns: Sequence[str], by: By) -> dict[str, Metric]:
    """The metrics by id; those of evaluators that are compared have no evaluator's name."""
    found = {id_: each for name in campaigns for id_, each in metrics_of(store, name).items()}
    if by == "evaluator":
        return {metric.name: metric for metric in found.values()}
    return found


def _better_by(row: Row, known: Mapping[str, Metric]) -> dict[str, float | str]:
    """By how much the first side is better on the leading metric: the interval, above 0 if so."""
    metric = known.get(row["metric"], Metric(name=""))
    sign = -1 if metric.lower_is_better else 1
    low, high = sorted((sign * row["low"], sign * row["high"]))
    return {"metric": row["metric"], "low": low, "high": high}


def _tables(table: "pd.DataFrame", known: Mapping[str, Metric]) -> dict[str, "pd.DataFrame"]:
    """All metrics of two sides; of more, the leading one, and then a column for each pair."""
    import pandas as pd

    rows = [row for row in rows_of(table) if row["n"]]
    pairs = dict.fromkeys((row["a"], row["b"]) for row in rows)
    if len(pairs) == 1:
        ((a, b),) = pairs
        lines = [(row["metric"], *_line(row, known)) for row in rows]
        columns = ["metric", a, b, f"{a} minus {b}", "decided", "scenarios"]
        return {"Differences, with 95 % intervals": pd.DataFrame(lines, columns=columns)}
    lead = rows[0]["metric"] if rows else ""
    lines = [(row["a"], row["b"], *_line(row, known)) for row in rows if row["metric"] == lead]
    columns = ["a", "b", "mean of a", "mean of b", "a minus b", "decided", "scenarios"]
    found = {f"Differences on {lead}, with 95 % intervals": pd.DataFrame(lines, columns=columns)}
    others: dict[str, dict[str, str]] = {}
    for row in (row for row in rows if row["metric"] != lead):
        gap = f"{_gap(row, known)}{' *' if row['decided'] else ''}"
        others.setdefault(row["metric"], {})[f"{row['a']} minus {row['b']}"] = gap
    if others:
        wide = pd.DataFrame([{"metric": id_, **gaps} for id_, gaps in others.items()])
        found["Differences on other metrics (*: decided)"] = wide.fillna("-")
    return found


def _line(row: Row, known: Mapping[str, Metric]) -> tuple[str, ...]:
    metric = known.get(row["metric"], Metric(name=""))
    means = (shown(row[mean], metric) for mean in ("mean_a", "mean_b"))
    sign = "+" if row["difference"] > 0 else ""
    gap = f"{sign}{cell(row['difference'], row, metric)}"
    return *means, gap, _decision(row), str(row["n"])


def _gap(row: Row, known: Mapping[str, Metric]) -> str:
    sign = "+" if row["difference"] > 0 else ""
    return f"{sign}{shown(row['difference'], known.get(row['metric'], Metric(name='')))}"


def _decision(row: Row) -> str:
    if row["decided"]:
        return f"yes, {p_text(row['p'])}"
    if row["p"] != row["p"]:
        return "-"
    return "no" if row["more"] != row["more"] else f"no, {p_text(row['p'])}: play {wanted(row)}"


def _about_pairs(table: "pd.DataFrame") -> list[str]:
    """Which sides have no scenario in common."""
    apart = table[~table["paired"]].drop_duplicates(["a", "b"])
    pairs = [f"{a} and {b}" for a, b in zip(apart["a"], apart["b"], strict=True)]
    if not pairs:
        return []
    return [
        f"{listed(pairs)} have no scenario in common: they are compared as groups, so a difference "
        "may be that of the scenarios"
    ]
