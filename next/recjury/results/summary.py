"""What came of a campaign: means by system, and what failed or has no score."""

from typing import TYPE_CHECKING, Any

from recjury.llm.notes import Said, notes_on
from recjury.results.findings import Findings
from recjury.results.ratings import TRIAL, means, ratings
from recjury.store import Store

if TYPE_CHECKING:
    import pandas as pd

LEADING = ("core.overall", "outcome.success")
"""The metrics that answer "how good is it?", the first one that is there."""


def summary(store: Store, campaign: str = "") -> Findings:
    """The means of a campaign, by default of the newest.

    Raises UserError if there is none. `data` has `systems` (name, metric id, mean, low, high, n,
    coverage) and `caveats`.
    """
    name = store.campaign(campaign)
    frame = ratings(store, name)
    table = means(frame)
    problems = tuple(_problems(frame) + _not_played(store, name))
    notes = tuple(_said_of_answers(store, name))
    return Findings(
        title=name,
        answer=_answer(name, frame, table),
        tables={"Means, with 95 % intervals": _by_metric(table)} if len(table) else {},
        notes=notes,
        problems=problems,
        data={"campaign": name, "systems": _systems(table), "caveats": [*notes, *problems]},
    )


def _answer(name: str, frame: "pd.DataFrame", table: "pd.DataFrame") -> str:
    trials = len(frame[TRIAL].drop_duplicates())
    metric = next((each for each in LEADING if each in set(table["metric"])), None)
    leading = table[(table["metric"] == metric) & table["mean"].notna()]
    if not len(leading):
        return f"{name}: {trials} conversations, no scores yet."
    best = leading.sort_values("mean", ascending=False).iloc[0]
    return (
        f"{name}: {trials} conversations. Highest {metric}: {best.system} with {best['mean']:.2f} "
        f"[{best.low:.2f}, {best.high:.2f}].\n"
        "Intervals say how sure each mean is, not whether two systems differ."
    )


def _by_metric(table: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each metric and a column for each system, as `mean [low, high]`."""
    cells = [_cell(row) for row in _rows(table)]
    wide = table.assign(cell=cells).pivot_table(
        index="metric", columns="system", values="cell", aggfunc="first", sort=False, observed=True
    )
    return wide.reset_index().fillna("-")


def _rows(table: "pd.DataFrame") -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.itertuples(index=False)]


def _cell(row: dict[str, Any]) -> str:
    if not row["n"]:
        return "-"
    part = "" if row["coverage"] == 1 else f" ({row['coverage']:.0%})"
    return f"{row['mean']:.2f} [{row['low']:.2f}, {row['high']:.2f}]{part}"


def _systems(table: "pd.DataFrame") -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in _rows(table):
        figures = {key: row[key] for key in ("mean", "low", "high", "n", "coverage")}
        found.setdefault(row["system"], {})[row["metric"]] = figures
    return found


def _problems(frame: "pd.DataFrame") -> list[str]:
    """One line for each system and kind of failure."""
    lines = []
    failed = frame[frame["status"] == "system failed"].drop_duplicates(["conversation"])
    for system, rows in failed.groupby("system", observed=True):
        lines.append(f"{system}: {len(rows)} conversations failed, {rows['failure'].iloc[0]}")
    open_ = frame[frame["status"].isin(["unreadable", "call failed", "refused"])]
    for key, rows in open_.groupby(["system", "status"], observed=True):
        system, status = map(str, key)
        reason = rows["reason"].iloc[0]
        lines.append(f"{system}: {len(rows)} ratings have no score ({status}: {reason})")
    return lines


def _said_of_answers(store: Store, campaign: str) -> list[str]:
    """Where what endpoints said of their own answers contradicts the requests."""
    models = store.config(campaign).get("models", {})
    names = {alias: str(model.get("name", alias)) for alias, model in models.items()}
    return notes_on(
        Said(size.model, names.get(size.model, ""), size.served, size.characters, size.tokens_in)
        for size in store.call_sizes(campaign)
        if size.model in names
    )


_NOT_PLAYED = """
    SELECT c.reason, COUNT(*) FROM plan p JOIN conversation c ON c.id = p.conversation
    WHERE p.campaign = :campaign AND c.state = 'planned' AND c.reason <> ''
        AND p.run = (SELECT MAX(run) FROM plan WHERE campaign = :campaign)
    GROUP BY c.reason
"""


def _not_played(store: Store, campaign: str) -> list[str]:
    """One line for each reason why the user could not speak."""
    from sqlalchemy import text

    with store.connection() as connection:
        rows = connection.execute(text(_NOT_PLAYED), {"campaign": campaign})
        return [f"{number} conversations were not played: {reason}" for reason, number in rows]
