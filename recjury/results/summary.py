"""What came of a campaign: means by system, who is ahead, and what failed or has no score."""

from collections import Counter
from collections.abc import Mapping, Set
from typing import Any, TypeVar

import pandas as pd

from recjury.files import nearest
from recjury.records import Metric, factors
from recjury.results.campaign import StoredCampaign
from recjury.results.caveats import (
    Logs,
    about_campaign,
    about_choice,
    about_means,
    about_scores,
    of_targets,
)
from recjury.results.compare import COLUMNS, compare
from recjury.results.findings import Findings
from recjury.results.metrics import Metrics, with_scales
from recjury.results.ratings import (
    FAILURES,
    LOST,
    STANDARD,
    TRIAL,
    Missing,
    Resampling,
    about_worst,
    means,
    scores,
    with_worst,
)
from recjury.results.sentences import Row, answer, best_of, cell, listed, rows_of
from recjury.results.trials import costs, effort
from recjury.store import Store

T = TypeVar("T")


def summary(
    store: Store,
    campaign: str = "",
    *,
    missing: Missing = "left out",
    resampling: Resampling = STANDARD,
) -> Findings:
    """The means of a campaign, by default of the newest, and its systems compared.

    With `missing` "worst", a score that a failure cost is the worst of its scale. Raises UserError
    if there is no campaign. `data` has `systems` (name, metric id, mean, low, high, n, coverage),
    `comparisons` (the rows of `results.compare`), `effort` (system, seconds of a turn, dollars of a
    conversation), `names` (read, not_found, some) and `caveats`.
    """
    return summary_of(StoredCampaign(store, campaign), missing=missing, resampling=resampling)


def summary_of(
    campaign: StoredCampaign,
    *,
    missing: Missing = "left out",
    resampling: Resampling = STANDARD,
) -> Findings:
    """The same of a campaign, or of a part of it, whose frames may be known."""
    store, name, known, frame = campaign.store, campaign.name, campaign.metrics, campaign.ratings
    counted, scored = frame, campaign.scores
    if missing == "worst":
        counted = with_worst(frame, known)
        scored = scores(counted)
    table, spent = means(scored, resampling), effort(campaign.trials, costs(store, name))
    logs = Logs.read(store, frame)
    compared = _compared(counted, scored, table, known, resampling)
    said = _answer(name, frame, table, compared, known)
    problems = tuple(_problems(frame) + _not_played(campaign.trials))
    kept = frame[~frame["status"].isin(LOST)]  # what is lost is a problem
    notes = (
        *about_means(frame),
        *about_choice(best_of(compared, known), len(table["system"].unique())),
        *about_scores(kept, table=campaign.scores if len(kept) == len(frame) else None),
        *logs.about_names(),
        *logs.about_lists(),
        *about_campaign(campaign),
    )
    return Findings(
        title=name,
        answer=f"{said}\n{about_worst(frame)}" if missing == "worst" else said,
        tables=_tables(counted, table, known, resampling, logs.named) | _effort(spent),
        numbers=_with_settings(with_scales(table, known)),
        notes=notes,
        problems=problems,
        data={
            "campaign": name,
            "systems": means_by_system(table),
            "comparisons": rows_of(compared),
            "effort": rows_of(spent),
            "names": logs.data,
            "caveats": [*notes, *problems],
        },
    )


def _compared(
    frame: pd.DataFrame,
    scored: pd.DataFrame,
    table: pd.DataFrame,
    known: Metrics,
    resampling: Resampling,
) -> pd.DataFrame:
    """All systems that have scores, two by two; none if there are not two."""
    systems = list(table["system"][table["n"] > 0].drop_duplicates())
    if len(systems) < 2:
        return pd.DataFrame(columns=COLUMNS)
    return compare(frame, systems, order=list(known), resampling=resampling, table=scored)


def _answer(
    name: str,
    frame: pd.DataFrame,
    table: pd.DataFrame,
    compared: pd.DataFrame,
    known: Metrics,
) -> str:
    trials = len(frame[TRIAL].drop_duplicates())
    scored = table[table["n"] > 0]
    metric = next((id_ for id_ in known if (scored["metric"] == id_).any()), None)
    if metric is None:
        return f"{name}: {trials} conversations, no scores yet."
    leading = scored[scored["metric"] == metric]
    best = leading.sort_values("mean", ascending=known[metric].lower_is_better).iloc[0]
    word = "Lowest" if known[metric].lower_is_better else "Highest"
    mean = _cell(dict(best), known[metric]).replace("\N{NO-BREAK SPACE}", " ")
    said = f"{name}: {trials} conversations."
    if compared["comparable"][compared["metric"] == metric].all():
        said = f"{said} {word} {metric}: {best.system} with {mean}."
    decided = answer(compared, known).splitlines()[:1] if len(compared) else []
    return "\n".join((said, *decided))


def _tables(
    frame: pd.DataFrame,
    table: pd.DataFrame,
    known: Metrics,
    resampling: Resampling,
    named: Set[str],
) -> dict[str, pd.DataFrame]:
    """All means; and those of finding targets without the scenarios whose history names one."""
    if not table["n"].any():
        return {}
    found = {"Means, with 95 % intervals": _by_metric(table, known)} | _variants(table, known)
    outcomes = of_targets(frame)
    new = outcomes[~_scenarios(outcomes).isin(named)]
    if named and len(new):
        heading = f"Without the {len(named)} scenarios whose history names a target"
        found[heading] = _by_metric(means(scores(new), resampling), known)
    return found


def _variants(table: pd.DataFrame, known: Metrics) -> dict[str, pd.DataFrame]:
    """The settings of the variants of a grid beside their means of the leading metric."""
    lead = next((id_ for id_ in known if (table["metric"] == id_).any()), "")
    rows = rows_of(table[table["metric"] == lead])
    cells = [(row["system"], _cell(row, known[lead])) for row in rows]
    found = _with_settings(pd.DataFrame(cells, columns=["system", lead]))
    return {"Settings that differ": found.fillna("-")} if len(found.columns) > 2 else {}


def _with_settings(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a column behind `system` for each setting in which variants differ."""
    names = table["system"]
    of_all = pd.DataFrame.from_dict(factors(names.unique()), orient="index").reindex(names)
    place = list(table.columns).index("system") + 1
    parts = [table.iloc[:, :place], of_all.set_axis(table.index), table.iloc[:, place:]]
    return pd.concat(parts, axis=1)


def _effort(spent: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Seconds and dollars, where they are known of a system."""
    shown = spent[["system"]].copy()
    for name, heading, decimals in (
        ("seconds", "seconds a turn", 2),
        ("dollars", "US dollars a conversation, ratings included", 4),
    ):
        if spent[name].notna().any():
            texts = ["-" if each is None else f"{each:.{decimals}f}" for each in spent[name]]
            shown[heading] = texts
    return {"Time and cost": shown} if len(shown.columns) > 1 else {}


def _scenarios(frame: pd.DataFrame) -> "pd.Series[str]":
    return frame["corpus"].astype(str) + "/" + frame["scenario"].astype(str)


def _by_metric(table: pd.DataFrame, known: Metrics) -> pd.DataFrame:
    """A row for each metric with a score, a column for each system, as `mean [low, high]`."""
    most = table["n"].groupby(table["metric"], observed=True).transform("max")
    table = table[most > 0]
    cells: dict[str, dict[str, str]] = {}
    for row in rows_of(table):
        metric = known[row["metric"]]
        cells.setdefault(row["metric"], {})[row["system"]] = _cell(row, metric)
    ids = [id_ for id_ in {**known, **cells} if id_ in cells]
    rows = [{"metric": id_, "title": title(known[id_]), **cells[id_]} for id_ in ids]
    wide = pd.DataFrame(rows)
    return wide if wide["title"].any() else wide.drop(columns="title")


def title(metric: Metric) -> str:
    """What a metric's name does not say itself: other words, and that less is better."""
    says_more = metric.title.lower().replace(" ", "_") not in ("", metric.name)
    parts = [metric.title if says_more else "", "lower is better" if metric.lower_is_better else ""]
    return ", ".join(filter(None, parts))


def _cell(row: Row, metric: Metric) -> str:
    """`2.91 [2.70, 3.10]`, with the share of trials that have a score where it is not all."""
    if not row["n"]:
        return "-"
    part = "" if row["coverage"] == 1 else f"\N{NO-BREAK SPACE}({row['coverage']:.0%})"
    return f"{cell(row['mean'], row, metric)}{part}"


class _ByName(dict[str, T]):
    """Values by name; the error for another name has the nearest one."""

    def __missing__(self, name: str) -> T:
        raise KeyError(f"{name}{nearest(name, self)}")


def means_by_system(table: pd.DataFrame) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """The frame of means by system and metric id: mean, low, high, n, coverage."""
    found: _ByName[_ByName[dict[str, Any]]] = _ByName()
    for row in rows_of(table):
        figures = {key: row[key] for key in ("mean", "low", "high", "n", "coverage")}
        found.setdefault(row["system"], _ByName())[row["metric"]] = figures
    return found


_REASONS = 3  # why conversations failed, the most frequent first


def _problems(frame: pd.DataFrame) -> list[str]:
    """One line for each system and kind of failure."""
    lines = []
    failed = frame[frame["status"] == "system failed"].drop_duplicates(["conversation"])
    for system, rows in failed.groupby("system", observed=True):
        reasons = Counter(rows["failure"].astype(str)).most_common()
        said = [f"{number} because: {reason}" for reason, number in reasons]
        said = said if len(said) > 1 else [reasons[0][0]]
        lines.append(f"{system}: {len(rows)} conversations failed, {listed(said, _REASONS)}")
    open_ = frame[frame["status"].isin(FAILURES)]
    for key, rows in open_.groupby(["system", "status"], observed=True):
        system, status = map(str, key)
        ids = (rows["evaluator"].astype(str) + "." + rows["metric"].astype(str)).unique()
        why = f"{status}: {rows['reason'].iloc[0]}"
        lines.append(f"{system}: {len(rows)} ratings have no score ({why}), of {listed([*ids])}")
    return lines


def _not_played(trials: pd.DataFrame) -> list[str]:
    """One line for each reason why the user could not speak."""
    waiting = trials[(trials["state"] == "planned") & (trials["reason"] != "")]
    counts = waiting["reason"].value_counts()
    return [
        f"{number} conversations were not played: {reason}" for reason, number in counts.items()
    ]
