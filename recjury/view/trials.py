"""The trials of a campaign as a list: filtered, searched, sorted by any score, in parts."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from sqlalchemy import text

from recjury.records import ConversationLog
from recjury.store import Store
from recjury.view.data import FILTERS, Campaign, chosen
from recjury.view.rated import anchor_of
from recjury.view.rendering import Page

PART = 100
"""Rows of a page; the next ones are loaded when they are wanted."""

_WORDS = 120  # characters of what was said
_MOST_OPTIONS = 200


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
    key = query.get("sort", "").removeprefix("-")
    factors = _factors(campaign, key)
    lead = key if key in campaign.scored and key not in factors else campaign.verdict
    rest = {key: value for key, value in query.items() if key != "from" and value}
    following = {**rest, "from": str(start + part)} if start + part < len(found) else {}
    return Page(
        "trials.j2",
        {
            "name": campaign.name,
            "campaign": campaign.link(),
            "query": rest,
            "lead": lead,
            "factors": factors,
            "anchor_of": anchor_of,
            "metrics": metrics,
            "title": lambda id_: metrics.title(id_) if id_ in metrics else id_,
            "trials": list(_rows(campaign, rows, [*factors, *filter(None, [lead])])),
            "number": len(found),
            "all": len(trials),
            "more": campaign.link("trials", **following) if following else "",
            "part": min(part, len(found) - start - part),
            "is_whole": part >= len(trials),
            "options": options(trials, [key for key in FILTERS if key != "scenario"]),
        },
    )


def trial_ids(store: Store, query: Mapping[str, str], campaign: str) -> list[str]:
    """The conversations of a list, in its order."""
    return list(_found(Campaign(store, campaign), query)["id"])


def _found(campaign: Campaign, query: Mapping[str, str]) -> pd.DataFrame:
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


def _factors(campaign: Campaign, sort: str) -> list[str]:
    """The ids of the factors of one evaluator: of the one whose metric sorts the list."""
    evaluator = sort.rpartition(".")[0]
    groups = campaign.factors
    return groups.get(f"{evaluator}.mean") or next(iter(groups.values()), [])


def _rows(
    campaign: Campaign, rows: Sequence[Mapping[Any, Any]], ids: Sequence[str]
) -> Iterator[dict[Any, Any]]:
    """The rows with what was said first and last, and `scores` of `ids`: (None, why) if lost."""
    trials = [row["id"] for row in rows]
    logs, why = dict(campaign.store.logs(trials)), _statuses(campaign.ratings, trials)
    for row in rows:
        log, trial = logs.get(row["id"]), row["id"]
        scores = {
            id_: (row[id_], "")
            if not math.isnan(row[id_])
            else (None, why.get((trial, id_)) or why.get((trial, ""), "not rated"))
            for id_ in ids
        }
        first, last = (first_words(log), _last_words(log)) if log else ("", "")
        yield {**row, "scores": scores, "first": first, "last": last}


def _statuses(frame: pd.DataFrame, ids: Sequence[str]) -> dict[tuple[str, str], str]:
    """Why there is no score, by conversation and metric; of a whole conversation, by ""."""
    rows = frame[frame["conversation"].isin(ids) & frame["score"].isna() & frame["status"].notna()]
    columns = rows[["conversation", "evaluator", "metric", "status"]].astype(object)
    return {
        (id_, "" if metric != metric else f"{evaluator}.{metric}"): status
        for id_, evaluator, metric, status in columns.itertuples(index=False)
    }


def first_words(log: ConversationLog) -> str:
    """The user's last words before the interaction, or the first ones in it."""
    said = [*reversed(log.scenario.history), *log.interaction]
    return next((turn.text[:_WORDS] for turn in said if turn.speaker == "user"), "")


def _last_words(log: ConversationLog) -> str:
    """What the user said last."""
    said = [turn.text for turn in log.interaction if turn.speaker == "user" and turn.text]
    return " ".join(said[-1].split())[:_WORDS] if said else ""


def options(frame: pd.DataFrame, names: Iterable[str]) -> dict[str, list[str]]:
    """What filters by columns offer; a single value is no choice."""
    values = {name: sorted(filter(None, map(str, frame[name].unique()))) for name in names}
    return {name: own for name, own in values.items() if 1 < len(own) <= _MOST_OPTIONS}
