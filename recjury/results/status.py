"""Where a campaign stands: what is done, failed or left, and what it cost."""

import pandas as pd
from sqlalchemy import text

from recjury.results.findings import Findings
from recjury.store import Counts, RunRow, Spent, Store

_CALLS = """
    SELECT purpose, model, COUNT(*) AS calls, SUM(tokens_in) AS tokens_in,
           SUM(tokens_out) AS tokens_out, SUM(cost) AS dollars,
           COUNT(*) - COUNT(cost) AS unpriced
    FROM call WHERE campaign = :campaign GROUP BY purpose, model
"""
_LAST_RUNS = 5
_TIMES = {"started_at": "began (UTC)", "ended_at": "ended (UTC)"}


def status(store: Store, campaign: str = "") -> Findings:
    """Conversations and evaluations by state, calls by purpose, and the last runs of a campaign.

    Times are ISO 8601 in UTC. A call belongs to the first unit that asked for it. Raises UserError
    if there is no campaign.
    """
    name = store.campaign(campaign)
    counts = store.counts(name)
    with store.connection() as connection:
        calls = pd.read_sql(text(_CALLS), connection, params={"campaign": name})
    # One look at all calls is enough; the store's own sum would be another.
    sums = calls[["tokens_in", "tokens_out", "calls", "unpriced"]].sum().astype(int)
    spent = Spent(float(calls["dollars"].sum()), *sums.tolist())
    runs = pd.DataFrame(store.runs(name), columns=RunRow._fields)
    done, planned = counts.conversations.get("done", 0), sum(counts.conversations.values())
    unknown = f" and {spent.unpriced:,} calls of unknown price" if spent.unpriced else ""
    others = ", ".join(each for each in store.campaigns() if each != name)
    columns = ["id", "state", "started_at", "ended_at", "reason"]
    return Findings(
        title=name,
        answer=f"{name}: {done} of {planned} conversations done, {spent.calls:,} calls, "
        f"${spent.dollars:.2f}{unknown}." + (f"\nAlso in this store: {others}." if others else ""),
        tables={
            "Conversations and evaluations": _by_state(counts),
            "Calls": calls.drop(columns="unpriced"),
            "Last runs": _to_minutes(runs.head(_LAST_RUNS)[columns]),
        },
        data={
            "campaign": name,
            "conversations": dict(counts.conversations),
            "evaluations": {key: dict(states) for key, states in counts.evaluations.items()},
            "spent": spent._asdict(),
            "calls": calls.to_dict("records"),
            "runs": runs.to_dict("records"),
        },
    )


def _to_minutes(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with times as people read them."""
    times = {name: runs[name].str.slice(0, 16).str.replace("T", " ") for name in _TIMES}
    return runs.assign(**times).rename(columns=_TIMES)


def _by_state(counts: Counts) -> pd.DataFrame:
    """A row for the conversations and each evaluator, a column for each state."""
    rows = {"conversations": counts.conversations, **counts.evaluations}
    frame = pd.DataFrame(rows).T.fillna(0).astype(int)
    frame = frame.loc[:, frame.any()]
    return frame.rename_axis("of").reset_index()
