"""The trials of a campaign as a list: filtered, and sorted by any score."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from recjury.records import Metric
from recjury.results.metrics import metrics_of
from recjury.results.ratings import TRIAL
from recjury.results.sentences import shown
from recjury.store import ConversationRow, Store
from recjury.view.kept import frame_of, scores_of
from recjury.view.rendering import Page

FILTERS = ("system", "user", "scenario", "ending", "status")
_STATUS = "state"


class Trial(NamedTuple):
    """A row of the list: a conversation, its address, and its score by `metric` as a text."""

    row: ConversationRow
    address: str
    score: str


def trials_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002
    """The trials that fit the query, sorted by `sort`, a metric's id (`-` before it: descending).

    Raises UserError if there is no such campaign.
    """
    metrics = metrics_of(store, store.campaign(id))
    rows, values, metric = _sorted(store, query, id, metrics)
    tail = f"?{urlencode({'in': urlencode(query)})}" if query else ""
    known = metrics.get(metric) or Metric(name=metric)
    listed = [
        Trial(row, f"/t/{row.id}{tail}", shown(values[row.id], known) if row.id in values else "")
        for row in rows
    ]
    return Page(
        "trials.j2",
        {
            "name": id,
            "campaign": f"/c/{quote(id, safe='')}",
            "metric": known.title or metric,
            "trials": listed,
        },
    )


def trial_ids(store: Store, query: Mapping[str, str], campaign: str) -> list[str]:
    """The conversations of a list, in its order."""
    rows, _, _ = _sorted(store, query, campaign, metrics_of(store, campaign))
    return [row.id for row in rows]


def _sorted(
    store: Store, query: Mapping[str, str], campaign: str, metrics: Mapping[str, Metric]
) -> tuple[list[ConversationRow], dict[str, float], str]:
    """The rows that fit, their values, and the metric that these are of."""
    frame, table = frame_of(store, campaign), scores_of(store, campaign)
    first = next((each for each in metrics if each in table and table[each].notna().any()), "")
    sort = query.get("sort", "")
    metric = sort.removeprefix("-") if sort.removeprefix("-") in table else first
    values = _values(frame, table[metric]) if metric else {}
    rows = [row for row in store.conversations(campaign) if _fits(row, query)]
    if sort:
        sign = -1 if sort.startswith("-") else 1
        rows.sort(key=lambda row: (row.id not in values, sign * values.get(row.id, 0.0)))
    return rows, values, metric


def _fits(row: ConversationRow, query: Mapping[str, str]) -> bool:
    wanted = {name: query[name] for name in FILTERS if query.get(name)}
    if "status" in wanted:
        wanted[_STATUS] = wanted.pop("status")
    return all(getattr(row, name) == value for name, value in wanted.items())


def _values(frame: Any, column: Any) -> dict[str, float]:
    """The values by conversation."""
    ids = frame.drop_duplicates(TRIAL).set_index(TRIAL)["conversation"].astype(str)
    joined = column.dropna().to_frame("value").join(ids.rename("id"))
    return dict(zip(joined["id"], joined["value"], strict=True))
