"""All campaigns of a store: when, how far, the highest mean, what failed, what it cost."""

from collections.abc import Mapping, Sequence
from typing import Any

from recjury.records import part_name
from recjury.results.sentences import shown
from recjury.store import Spent, Store
from recjury.view.data import Campaign
from recjury.view.rendering import Page

_QUICK = 5_000  # conversations of which this page has the highest mean
_SHORT = 4  # names
_MANY = 1_000  # campaigns of which it is kept


def campaigns_page(store: Store, query: Mapping[str, str]) -> Page:
    """The campaigns that fit `q` (words of name, systems, corpora) and `state`, the last first."""
    names = store.campaigns()
    rows = [_row(store, name) for name in names]
    return Page(
        "campaigns.j2",
        {
            "store": store.database.name,
            "campaigns": [row for row in rows if _fits(row, query)],
            "all": len(names),
            "states": sorted({row["state"] for row in rows}),
            "query": dict(query),
        },
    )


def _row(store: Store, name: str) -> dict[str, Any]:
    """What the list shows of a campaign."""
    counts, spent, runs = store.counts(name).conversations, store.spent(name), store.runs(name)
    config, done = store.config(name), counts.get("done", 0)
    systems = [part_name(part) for part in config.get("systems", ())]
    corpora = [str(part.get("corpus") or "") for part in config.get("scenarios", ())]
    campaign, state = Campaign(store, name), runs[0].state if runs else "planned"
    highest, note = None, "open it to see" if done > _QUICK else "no scores"
    if state == "running":
        note = "not before the end"
    elif 0 < done <= _QUICK:
        highest = campaign.once("highest", lambda: _highest(campaign), most=_MANY)
    return {
        "name": name,
        "address": campaign.link(),
        "what": " · ".join(filter(None, (_listed(systems), _listed(corpora)))) or "recordings",
        "state": state,
        "reason": runs[0].reason if runs else "",
        "done": done,
        "planned": sum(counts.values()),
        "failed": counts.get("failed", 0),
        "highest": highest,
        "note": note,
        "cost": _cost(spent, config.get("models", {})),
        "started": runs[-1].started_at[:16].replace("T", " ") if runs else "",
    }


def _cost(spent: Spent, models: Mapping[str, Any]) -> str:
    if not spent.calls:
        return "no new call" if models else "no model"
    if spent.unpriced == spent.calls:
        return "not known"
    return f"${spent.dollars:.2f}{' and more' if spent.unpriced else ''}"


def _listed(names: Sequence[str]) -> str:
    """Names, without those that are "", of many only how many."""
    own = list(dict.fromkeys(filter(None, names)))
    return ", ".join(own) if len(own) <= _SHORT else f"{len(own)} systems"


def _highest(campaign: Campaign) -> tuple[str, str] | None:
    """The system with the best mean of the leading metric, and this mean; None without scores."""
    lead, metric = campaign.lead, campaign.metrics[campaign.lead]
    if not lead:
        return None
    means = campaign.scores[lead].dropna().groupby(level="system", observed=True).mean()
    best = means.sort_values(ascending=metric.lower_is_better)[:1]
    ((name, mean),) = best.items()
    return str(name), f"{shown(mean, metric)} {campaign.metrics.title(lead).lower()}"


def _fits(row: Mapping[str, Any], query: Mapping[str, str]) -> bool:
    words, text = query.get("q", "").lower().split(), f"{row['name']} {row['what']}".lower()
    return all(word in text for word in words) and query.get("state", "") in ("", row["state"])
