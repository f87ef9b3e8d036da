"""The trials of a campaign as a list: filtered, searched, sorted by any score, in parts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from recjury.records import Metric
from recjury.results.metrics import metrics_of
from recjury.results.ratings import FAILURES, TRIAL
from recjury.results.sentences import shown
from recjury.store import ConversationRow, Store
from recjury.view.campaign import factors_of_judges
from recjury.view.kept import frame_of, kept, scores_of
from recjury.view.looking import agreed, not_agreed
from recjury.view.rendering import Page

PART = 100
"""Rows of a page; the next ones are loaded when they are wanted."""

FILTERS = ("system", "user", "scenario", "ending", "corpus")
_STATUSES = ("done", "failed", "unscored")
_WORDS = 140  # characters of the last words
_SIGNS = {"not applicable": "–", "system failed": "✕"}


class Score(NamedTuple):
    """A score in the list: its text, its colour's step, and where its reason stands."""

    text: str
    step: int | None
    title: str
    address: str


class Trial(NamedTuple):
    """A row of the list."""

    row: ConversationRow
    address: str
    lead: str
    scores: list[Score]
    agreed: str
    seconds: float
    words: str


class List(NamedTuple):
    """The conversations that fit a query, in its order, and the metric that sorts them."""

    rows: list[ConversationRow]
    metric: str
    places: dict[str, int]


def trials_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002
    """The trials that fit the query, sorted by `sort`, a metric's id (`-` before it: descending).

    `q` searches what was said, `from` is the number of the first row. Raises UserError if there is
    no such campaign.
    """
    name = store.campaign(id)
    listed, metrics = _list(store, query, name), metrics_of(store, name)
    start = int(query.get("from", "0")) if query.get("from", "0").isdecimal() else 0
    part = listed.rows[start : start + PART]
    factors = factors_of_judges(store, name, metrics)
    more = {**query, "from": str(start + PART)} if start + PART < len(listed.rows) else {}
    address = f"/c/{quote(name, safe='')}"
    known = store.conversations(name)
    return Page(
        "trials.j2",
        {
            "name": name,
            "campaign": address,
            "metric": listed.metric,
            "title": metrics[listed.metric].title or listed.metric if listed.metric else "",
            "heads": [(each, metrics[each].title or each) for each in factors],
            "trials": list(_trials(store, name, query, part, listed, factors)),
            "number": len(listed.rows),
            "all": len(known),
            "more": f"{address}/trials?{urlencode(more)}" if more else "",
            "query": dict(query),
            "options": {
                each: sorted({str(getattr(row, each)) for row in known} - {""})
                for each in ("system", "user", "ending")
            },
            "statuses": _STATUSES,
        },
    )


def trial_ids(store: Store, query: Mapping[str, str], campaign: str) -> list[str]:
    """The conversations of a list, in its order."""
    return [row.id for row in _list(store, query, campaign).rows]


def _list(store: Store, query: Mapping[str, str], campaign: str) -> List:
    table = scores_of(store, campaign)
    places = kept(store, ("places", campaign), lambda: _places(store, campaign))
    metrics = metrics_of(store, campaign)
    lead = next((each for each in metrics if each in table and table[each].notna().any()), "")
    sort = query.get("sort", "")
    key = sort.removeprefix("-")
    wanted = _wanted(store, query, campaign)
    rows = [row for row in store.conversations(campaign) if wanted(row)]
    values = table[key].to_numpy() if key in table else None
    if values is not None:
        sign = -1 if sort.startswith("-") else 1

        def order(row: ConversationRow) -> tuple[bool, float]:
            place = places.get(row.id)
            value = math.nan if place is None else float(values[place])
            return math.isnan(value), 0.0 if math.isnan(value) else sign * value

        rows.sort(key=order)
    elif key in ("rounds", "ending", "system", "scenario", "seconds"):
        rows.sort(key=lambda row: _plain(row, key), reverse=sort.startswith("-"))
    return List(rows, key if values is not None else lead, places)


def _plain(row: ConversationRow, key: str) -> Any:
    return sum(row.seconds) if key == "seconds" else getattr(row, key)


def _places(store: Store, campaign: str) -> dict[str, int]:
    """In which row of the table of scores each conversation stands."""
    frame, table = frame_of(store, campaign), scores_of(store, campaign)
    ids = frame.drop_duplicates(TRIAL)[[*TRIAL, "conversation"]].astype({"conversation": str})
    found = table.reset_index()[TRIAL].astype(str).reset_index()
    joined = found.merge(ids.astype(dict.fromkeys(TRIAL, str)), on=TRIAL)
    return dict(zip(joined["conversation"], joined["index"], strict=True))


def _wanted(store: Store, query: Mapping[str, str], campaign: str) -> Any:
    """Whether a row fits all that the query says."""
    plain = {name: query[name] for name in FILTERS if query.get(name)}
    among: list[set[str]] = []
    if words := query.get("q", "").strip():
        among.append(_having(store, campaign, words))
    if query.get("agreed") in ("yes", "no"):
        find = agreed if query["agreed"] == "yes" else not_agreed
        among.append(find(store, campaign))
    status = query.get("status", "")
    if status == "unscored":
        frame = frame_of(store, campaign)
        lost = frame[frame["status"].isin(FAILURES)]["conversation"]
        among.append(set(lost.astype(str)))

    def fits(row: ConversationRow) -> bool:
        return (
            all(str(getattr(row, name)) == value for name, value in plain.items())
            and all(row.id in ids for ids in among)
            and (status not in ("done", "failed", "planned") or row.state == status)
        )

    return fits


_SAID = """
    SELECT p.conversation FROM plan p JOIN conversation c ON c.id = p.conversation
    JOIN text t ON t.hash = c.log
    WHERE p.campaign = :campaign AND LOWER(t.text) LIKE :words ESCAPE '!'
"""


def _having(store: Store, campaign: str, words: str) -> set[str]:
    """The conversations in whose logs each of the words stands."""
    from sqlalchemy import text

    found: set[str] | None = None
    for word in words.lower().split():
        escaped = "".join(f"!{sign}" if sign in "!%_" else sign for sign in word)
        with store.connection() as connection:
            values = {"campaign": campaign, "words": f"%{escaped}%"}
            ids = set(map(str, connection.execute(text(_SAID), values).scalars()))
        found = ids if found is None else found & ids
    return found or set()


def _trials(
    store: Store,
    campaign: str,
    query: Mapping[str, str],
    rows: Sequence[ConversationRow],
    listed: List,
    factors: Sequence[str],
) -> Iterator[Trial]:
    table, metrics = scores_of(store, campaign), metrics_of(store, campaign)
    logs = dict(store.logs(row.id for row in rows))
    kept_query = {name: value for name, value in query.items() if name != "from" and value}
    tail = f"?{urlencode({'in': urlencode(kept_query)})}" if kept_query else ""
    apart = not_agreed(store, campaign)
    together = agreed(store, campaign)
    for row in rows:
        place = listed.places.get(row.id)
        values = {} if place is None else dict(zip(table.columns, table.iloc[place], strict=True))
        lead = values.get(listed.metric, math.nan)
        log = logs.get(row.id)
        said = [turn.text for turn in log.interaction if turn.text] if log else []
        yield Trial(
            row=row,
            address=f"/t/{row.id}{tail}",
            lead="" if math.isnan(lead) else shown(lead, metrics[listed.metric]),
            scores=[_score(each, values, metrics, row) for each in factors],
            agreed="no" if row.id in apart else "yes" if row.id in together else "",
            seconds=sum(row.seconds),
            words=" ".join(said[-1].split())[:_WORDS] if said else "",
        )


def _score(
    id_: str, values: Mapping[Any, float], metrics: Mapping[str, Metric], row: ConversationRow
) -> Score:
    value, metric = values.get(id_, math.nan), metrics[id_]
    address = f"/t/{row.id}?{urlencode({'metric': id_})}"
    if math.isnan(value):
        sign = _SIGNS["system failed"] if row.state == "failed" else _SIGNS["not applicable"]
        return Score(sign, None, f"{metric.title or id_}: no score", address)
    low, high = metric.low or 0.0, metric.high or 1.0
    step = round(8 * min(max((value - low) / (high - low), 0.0), 1.0)) if high > low else 0
    text = f"{value:.1f}".removesuffix(".0")
    return Score(text, step, f"{metric.title or id_}: {shown(value, metric)}", address)
