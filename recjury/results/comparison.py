"""What `recjury compare` shows: who is ahead on what, and whether that is decided."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from recjury.errors import UserError
from recjury.files import nearest
from recjury.results.campaign import StoredCampaign
from recjury.results.caveats import Logs, about_choice, about_scores
from recjury.results.compare import By, compare, fewest_scenarios, is_meant
from recjury.results.findings import Findings
from recjury.results.metrics import Metrics, metrics_of, with_scales
from recjury.results.ratings import STANDARD, Missing, Resampling, about_worst, with_worst
from recjury.results.selection import ALL, Selection
from recjury.results.sentences import (
    Row,
    advice,
    answer,
    best_of,
    cell,
    listed,
    p_text,
    rows_of,
    shown,
    signed,
)
from recjury.store import Store

_HOW = "with 95 % intervals, p corrected for many tests (Holm)"


def comparison(
    store: Store,
    names: Sequence[str] = (),
    *,
    by: By = "system",
    campaign: str = "",
    metrics: Sequence[str] = (),
    selection: Selection = ALL,
    missing: Missing = "left out",
    margins: Mapping[str, float] | None = None,
    resampling: Resampling = STANDARD,
) -> Findings:
    """The differences between systems of a campaign, or between users, evaluators or campaigns.

    `mine@1a2b` is the version of `mine` that begins so. With `missing` "worst", a score that a
    failure cost is the worst of its scale. `margins` says by metric how much worse the first of two
    names may be than the second one. `data` has `comparisons`: the rows of `results.compare`, and
    `margins`: metric, margin, n, low and high (of how much better the first is), and `outcome`:
    worse, not worse or not decided. Raises UserError for unknown names, and if there is nothing to
    compare.
    """
    if len(set(names)) < len(names):
        raise UserError(f"name each {by} once, got {', '.join(names)}")
    if by == "campaign":
        campaigns = [store.campaign(name) for name in names]
        campaigns = campaigns if len(names) > 1 else store.campaigns()
    else:
        campaigns = [store.campaign(campaign)]
    if margins and len(set(names)) != 2:
        raise UserError(f"margins want two {by}s, the new one and the old one: name both")
    versions = by == "system" and any("@" in name for name in names)
    frame = ratings_of_all(store, campaigns, all_versions=versions, selection=selection)
    known = metrics_by(store, campaigns, by)
    counted = with_worst(frame, metrics_of(store, *campaigns)) if missing == "worst" else frame
    order = list(known)
    table = compare(counted, names, by=by, metrics=metrics, order=order, resampling=resampling)
    sides = list(dict.fromkeys((*table["a"], *table["b"])))
    own = frame[frame[by].isin(sides)]
    notes = (
        *_about_pairs(table),
        *_about_selection(selection),
        *about_choice(best_of(table, known), len(sides)),
        *about_scores(own, by=by),
        *Logs.read(store, own).about_lists(),
    )
    rows = [_margin_row(table, known, *each) for each in (margins or {}).items()]
    said = [_margin_text(each, names) for each in rows]
    if missing == "worst":
        said.append(about_worst(own))
    if selection:
        said.append(f"Only {selection.text}: {own['conversation'].nunique()} conversations.")
    return Findings(
        title=" · ".join(campaigns),
        answer="\n".join((answer(table, known), *said)),
        tables=_tables(table, known),
        numbers=with_scales(table, known),
        notes=notes,
        data={
            "campaign": campaigns[0],
            "by": by,
            "comparisons": rows_of(table),
            "margins": rows,
            "missing": missing,
            "caveats": list(notes),
        },
    )


def ratings_of_all(
    store: Store,
    campaigns: Sequence[str],
    *,
    all_versions: bool = False,
    selection: Selection = ALL,
) -> pd.DataFrame:
    """The selected ratings of several campaigns as one frame, in the form of `results.ratings`."""
    frames = [
        StoredCampaign(store, name, all_versions=all_versions).of(selection).ratings
        for name in campaigns
    ]
    if len(frames) == 1:
        return frames[0]
    texts = [name for name, kind in frames[0].dtypes.items() if kind == "category"]
    joined = pd.concat([frame.astype(dict.fromkeys(texts, object)) for frame in frames])
    return joined.astype(dict.fromkeys(texts, "category")).reset_index(drop=True)


def metrics_by(store: Store, campaigns: Sequence[str], by: By) -> Metrics:
    """The metrics by id; those of evaluators that are compared have no evaluator's name."""
    found = metrics_of(store, *campaigns)
    if by != "evaluator":
        return found
    return Metrics({metric.name: metric for metric in found.values()})


def _margin_row(table: pd.DataFrame, known: Metrics, name: str, margin: float) -> dict[str, Any]:
    """Whether the interval of a difference shows that the first side is worse than by a margin."""
    ids = list(dict.fromkeys(table["metric"]))
    meant = [id_ for id_ in ids if is_meant(id_, name)]
    if len(meant) != 1:
        which = f"may be {listed(meant)}" if meant else f"has no score{nearest(name, ids)}"
        raise UserError(f"{name}={margin:g}: {name} {which}")
    (row,) = rows_of(table[table["metric"] == meant[0]])
    sign = -1 if known[meant[0]].lower_is_better else 1
    low, high = sorted((sign * row["low"], sign * row["high"]))
    if low != low and row["n"] >= fewest_scenarios():  # so many scenarios, and one difference
        low = high = sign * row["difference"]
    worse = "worse" if high < -margin else "not decided"
    outcome = "not worse" if low > -margin else worse
    found = {"metric": meant[0], "margin": margin, "n": row["n"], "low": low, "high": high}
    return {**found, "outcome": outcome}


def _margin_text(row: Mapping[str, Any], names: Sequence[str]) -> str:
    new, old = names
    by = f"than {old} by more than {row['margin']:g} on {row['metric']}"
    if row["outcome"] == "not decided":
        why = "play more scenarios" if row["n"] else "no scenario has two scores that compare"
        return f"Whether {new} is worse {by} is not decided: {why}."
    return f"{new} is {row['outcome']} {by}."


def _tables(table: pd.DataFrame, known: Metrics) -> dict[str, pd.DataFrame]:
    """All metrics of two sides; of more, the leading one, and then a column for each pair."""
    rows = [row for row in rows_of(table) if row["n"]]
    pairs = dict.fromkeys((row["a"], row["b"]) for row in rows)
    if len(pairs) == 1:
        ((a, b),) = pairs
        lines = [(row["metric"], *_line(row, known)) for row in rows]
        columns = ["metric", a, b, f"{a} minus {b}", "decided", "scenarios"]
        return {f"Differences, {_HOW}": pd.DataFrame(lines, columns=columns)}
    if not rows:
        return {}
    lead = rows[0]["metric"]
    lines = [(row["a"], row["b"], *_line(row, known)) for row in rows if row["metric"] == lead]
    columns = ["a", "b", "mean of a", "mean of b", "a minus b", "decided", "scenarios"]
    found = {f"Differences on {lead}, {_HOW}": pd.DataFrame(lines, columns=columns)}
    others: dict[str, dict[str, str]] = {}
    for row in (row for row in rows if row["metric"] != lead):
        gap = f"{signed(row['difference'], known[row['metric']])}{' *' if row['decided'] else ''}"
        others.setdefault(row["metric"], {})[f"{row['a']} minus {row['b']}"] = gap
    level = [id_ for id_, gaps in others.items() if not any(map(_is_gap, gaps.values()))]
    wide = pd.DataFrame([{"metric": id_, **others[id_]} for id_ in others if id_ not in level])
    if len(wide):
        but = f"; none on {listed(level)}" if level else ""
        found[f"Differences on other metrics (*: decided{but})"] = wide.fillna("-")
    return found


def _line(row: Row, known: Metrics) -> tuple[str, ...]:
    metric = known[row["metric"]]
    means = (shown(row[mean], metric) for mean in ("mean_a", "mean_b"))
    sign = "+" if row["difference"] > 0 else ""
    gap = f"{sign}{cell(row['difference'], row, metric)}"
    return *means, gap, _decision(row), str(row["n"])


def _is_gap(text: str) -> bool:
    """Whether a difference is still one when it is rounded."""
    return bool(text.strip("-+0. *"))


def _decision(row: Row) -> str:
    if row["decided"]:
        return f"yes, {p_text(row['p'])}"
    if row["p"] != row["p"]:
        return "-"
    return ": ".join(filter(None, (f"no, {p_text(row['p'])}", advice(row))))


def _about_selection(selection: Selection) -> list[str]:
    if not selection.is_by_outcome:
        return []
    return ["conversations were selected by what came of them: differences are of these alone"]


def _about_pairs(table: pd.DataFrame) -> list[str]:
    """Which sides have no scenario in common."""
    apart = table[~table["paired"]].drop_duplicates(["a", "b"])
    pairs = [f"{a} and {b}" for a, b in zip(apart["a"], apart["b"], strict=True)]
    if not pairs:
        return []
    return [
        f"{listed(pairs)} have no scenario in common: they are compared as groups, so a difference "
        "may be that of the scenarios"
    ]
