"""The trials of a campaign as a list: filtered, searched, sorted by any score, in parts."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from sqlalchemy import text

from recjury.records import ConversationLog
from recjury.results.sentences import shown
from recjury.store import Store
from recjury.view.data import Campaign
from recjury.view.gaps import first_words
from recjury.view.listing import FILTERS, chosen
from recjury.view.rated import Shown, key_of
from recjury.view.rated import shown as coloured
from recjury.view.rendering import Page

if TYPE_CHECKING:
    import pandas as pd

PART = 100
"""Rows of a page; the next ones are loaded when they are wanted."""

_WORDS = 120  # characters of what was said
_MOST_OPTIONS = 200


class Score(NamedTuple):
    """A score of a trial: what it is of, and where its reasons stand."""

    title: str
    shown: Shown
    address: str


class Columns(NamedTuple):
    """The ids of the metrics that the list shows: one large, others as coloured cells."""

    lead: str
    factors: list[str]


class Trial(NamedTuple):
    """A row of the list: what `Campaign.trials` has of it, its scores, and what was said."""

    row: Mapping[Any, Any]
    address: str
    lead: str
    scores: list[Score]
    first: str
    last: str


def trials_page(
    store: Store,
    query: Mapping[str, str],
    id: str,  # noqa: A002
    *,
    part: int = PART,
) -> Page:
    """The trials that fit the query, by `sort`: a column or a metric's id, `-` for descending.

    `q` are words that were all said, `from` is the number of the first row, and there are `part`
    rows at most. Raises UserError if there is no such campaign.
    """
    campaign = Campaign(store, id)
    metrics, trials, found = campaign.metrics, campaign.trials, _found(campaign, query)
    start = int(query.get("from", "")) if query.get("from", "").isdecimal() else 0
    rows = found[start : start + part].to_dict("records")
    columns = _columns(campaign, query.get("sort", ""))
    rest = {key: value for key, value in query.items() if key != "from" and value}
    following = {**rest, "from": str(start + part)} if start + part < len(found) else {}
    return Page(
        "trials.j2",
        {
            "name": campaign.name,
            "campaign": campaign.link(),
            "query": rest,
            "columns": columns,
            "title": lambda id_: metrics.title(id_) if id_ in metrics else id_,
            "trials": list(_trials(campaign, rows, rest, columns)),
            "number": len(found),
            "all": len(trials),
            "more": campaign.link("trials", **following) if following else "",
            "part": part,
            "is_whole": part >= len(trials),
            "options": {key: _options(trials[key]) for key in FILTERS if key != "scenario"},
        },
    )


def trial_ids(store: Store, query: Mapping[str, str], campaign: str) -> list[str]:
    """The conversations of a list, in its order."""
    return list(_found(Campaign(store, campaign), query)["id"])


def _found(campaign: Campaign, query: Mapping[str, str]) -> "pd.DataFrame":
    trials = chosen(campaign.trials, query)
    if words := query.get("q", "").split():
        trials = trials[trials["id"].isin(_saying(campaign, words))]
    return trials


_SAID = """
    SELECT p.conversation FROM plan p JOIN conversation c ON c.id = p.conversation
    JOIN text t ON t.hash = c.log WHERE p.campaign = :campaign
"""


def _saying(campaign: Campaign, words: Sequence[str]) -> list[str]:
    """The conversations in whose logs each of the words stands, in large or small letters."""
    values = {"campaign": campaign.name}
    with campaign.store.connection() as connection:
        like = "LIKE" if connection.dialect.name == "sqlite" else "ILIKE"
        query = _SAID
        for place, word in enumerate(words):
            query += f" AND t.text {like} :word{place} ESCAPE '!'"
            written = json.dumps(word, ensure_ascii=False)[1:-1]  # as it stands in a log
            escaped = re.sub("([!%_])", r"!\1", written)
            values[f"word{place}"] = f"%{escaped}%"
        return list(connection.execute(text(query), values).scalars())


def _columns(campaign: Campaign, sort: str) -> Columns:
    """The metric that sorts the list, else the verdict, and the factors of one evaluator."""
    key = sort.removeprefix("-")
    groups = list(campaign.factors.values())
    own = [group for group in groups if key.rpartition(".")[0] == group[0].rpartition(".")[0]]
    ids: Sequence[str] = next(iter(own or groups), [])
    return Columns(
        lead=key if key in campaign.scored and key not in ids else campaign.verdict,
        factors=[id_ for id_ in campaign.metrics if id_ in ids],
    )


def _trials(
    campaign: Campaign,
    rows: Sequence[Mapping[Any, Any]],
    query: Mapping[str, str],
    columns: Columns,
) -> Iterator[Trial]:
    metrics, came = campaign.metrics, {"in": urlencode(query)} if query else {}
    ids = [row["id"] for row in rows]
    logs, why = dict(campaign.store.logs(ids)), _statuses(campaign.ratings, ids)
    for row in rows:
        address, log = f"/t/{row['id']}", logs.get(row["id"])
        value = row[columns.lead] if columns.lead else math.nan
        yield Trial(
            row=row,
            address=f"{address}?{urlencode(came)}" if came else address,
            lead="" if math.isnan(value) else shown(value, metrics[columns.lead]),
            scores=[
                Score(
                    metrics.title(id_),
                    coloured(
                        None if math.isnan(row[id_]) else row[id_],
                        metrics[id_],
                        why.get((row["id"], id_)) or why.get((row["id"], ""), "not rated"),
                    ),
                    f"{address}?{urlencode({'metric': key_of(id_), **came})}",
                )
                for id_ in columns.factors
            ],
            first=first_words(log) if log else "",
            last=_last_words(log) if log else "",
        )


def _statuses(frame: "pd.DataFrame", ids: Sequence[str]) -> dict[tuple[str, str], str]:
    """Why there is no score, by conversation and metric; of a whole conversation, by ""."""
    rows = frame[frame["conversation"].isin(ids) & frame["score"].isna() & frame["status"].notna()]
    columns = rows[["conversation", "evaluator", "metric", "status"]].astype(object)
    return {
        (id_, "" if metric != metric else f"{evaluator}.{metric}"): status
        for id_, evaluator, metric, status in columns.itertuples(index=False)
    }


def _last_words(log: ConversationLog) -> str:
    """What the user said last."""
    said = [turn.text for turn in log.interaction if turn.speaker == "user" and turn.text]
    return " ".join(said[-1].split())[:_WORDS] if said else ""


def _options(column: "pd.Series[Any]") -> list[str]:
    """What a filter offers; a single value is no choice."""
    values = [value for value in column.cat.categories if value]
    return values if 1 < len(values) <= _MOST_OPTIONS else []
