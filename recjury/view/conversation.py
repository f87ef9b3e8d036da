"""A conversation: the talk, its ratings with reasons and marks, its debates and its calls."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from sqlalchemy import RowMapping, bindparam, text

from recjury.records import ConversationLog, Event, Turn, ratings_of, statements_of
from recjury.store import ConversationRow, Store
from recjury.view.data import Campaign
from recjury.view.debates import debate_chart
from recjury.view.rated import Mark, Rated, Segment, rated, segments
from recjury.view.rendering import Page
from recjury.view.trials import trial_ids

_LONG = 4_000  # characters of a turn; a longer one scrolls in its place


class PageTurn(NamedTuple):
    """A turn for readers. `number` counts from 1, `items` are names with "", "got" or "again"."""

    number: int
    speaker: str
    segments: list[Segment]
    items: list[tuple[str, str]]
    events: list[tuple[str, str]]
    seconds: float | None
    failure: str
    is_long: bool


def conversation_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002
    """A conversation by its id, or how it begins. Raises UserError if there is none.

    `metric` opens a rating, `round` a round of the debate; `in` is the query of the list that one
    came from, in whose order the next and the previous conversation stand.
    """
    row = store.conversation(id)
    log = next((log for _, log in store.logs([row.id])), None)
    campaign, order = Campaign(store, row.campaign), query.get("in", "")
    by_evaluator = list(_rated(campaign, row, log)) if log else []
    marks = [mark for each in by_evaluator for one in each.rows for mark in one.marks]
    where = store.database.name
    return Page(
        "conversation.j2",
        {
            "row": row,
            "log": log,
            "campaign": campaign.link(),
            "up": f"{campaign.link('trials')}{'?' if order else ''}{order}",
            "neighbours": _neighbours(campaign, row, order),
            "turns": list(_turns(log, row.seconds, marks)) if log else [],
            "targets": _targets(log) if log else [],
            "judged": [each for each in by_evaluator if each.reasons],
            "computed": [each for each in by_evaluator if not each.reasons and each.rows],
            "debates": [
                {"evaluator": each.name, "verdict": debate.verdict, "chart": debate_chart(debate)}
                for each in by_evaluator
                for debate in each.debates
            ],
            "open": query.get("metric", ""),
            "round": query.get("round", ""),
            "sums": sums_of(store, purposes_of(store, row)),
            "command": f"recjury replay {row.id[:8]}",
            "at_store": "" if where == "recjury.db" else f" --store {shlex.quote(where)}",
        },
    )


def _turns(
    log: ConversationLog, seconds: Sequence[float], marks: Sequence[Mark]
) -> Iterator[PageTurn]:
    wanted, shown_before = {item.id for item in log.scenario.targets}, set[str]()
    left = iter(seconds)
    for number, turn in enumerate(log.interaction):
        items = list(_items(turn, wanted, shown_before)) if turn.speaker == "system" else []
        yield PageTurn(
            number=number + 1,
            speaker=turn.speaker,
            segments=segments(turn.text, [mark for mark in marks if mark.turn == number]),
            items=items,
            events=[_event(event) for event in turn.events],
            seconds=next(left, None) if turn.speaker == "system" else None,
            failure=turn.failure,
            is_long=len(turn.text) > _LONG,
        )


def _items(turn: Turn, wanted: set[str], shown_before: set[str]) -> Iterator[tuple[str, str]]:
    """The names of a list, each with whether it is a target, and whether for the first time."""
    for item in turn.items:
        first = "again" if item.id in shown_before else "got"
        yield item.name, first if item.id in wanted else ""
        shown_before.add(item.id)


def _event(event: Event) -> tuple[str, str]:
    """What a summary names, and all of it."""
    value = event.value
    about = value.get("name") or value.get("title") if isinstance(value, Mapping) else None
    whole = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return f"{event.kind} {about}" if isinstance(about, str) else event.kind, whole


def _targets(log: ConversationLog) -> list[tuple[str, bool]]:
    """The names of the targets, each with whether the system listed it."""
    listed = {item.id for item in log.session_list}
    return [(target.name, target.id in listed) for target in log.scenario.targets]


def _rated(campaign: Campaign, row: ConversationRow, log: ConversationLog) -> Iterator[Rated]:
    """The ratings by evaluator, its judgings together."""
    store, judgings = campaign.store, dict[str, list[Any]]()
    for evaluation in store.evaluations(row.campaign, conversation=row.id):
        judgings.setdefault(evaluation.name, []).append(store.findings(evaluation.id))
    for name, findings in judgings.items():
        yield rated(name, findings, campaign.metrics, log)


def _neighbours(campaign: Campaign, row: ConversationRow, query: str) -> dict[str, Any]:
    """Where a conversation stands in the list that one came from: addresses, "" at an end."""
    ids = campaign.once("order", lambda: _order(campaign, query), query)
    if row.id not in ids:  # an older version, or a list that has changed
        return {"before": "", "after": "", "place": 0, "of": len(ids)}
    place = ids.index(row.id)
    tail = f"?{urlencode({'in': query})}" if query else ""
    before = f"/t/{ids[place - 1]}{tail}" if place else ""
    after = f"/t/{ids[place + 1]}{tail}" if place + 1 < len(ids) else ""
    return {"before": before, "after": after, "place": place + 1, "of": len(ids)}


def _order(campaign: Campaign, query: str) -> list[str]:
    """The ids of a list, or of all conversations of a campaign in the plan's order."""
    if listed := dict(parse_qsl(query)):
        return trial_ids(campaign.store, listed, campaign.name)
    plan = "SELECT conversation FROM plan WHERE campaign = :campaign ORDER BY ordinal, run"
    return [id_ for (id_,) in campaign.store.rows(plan, campaign=campaign.name)]


def calls_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002, ARG001
    """All calls of a conversation. Raises UserError if there is none."""
    row = store.conversation(id)
    purposes = purposes_of(store, row)
    return Page(
        "calls.j2",
        {
            "row": row,
            "campaign": Campaign(store, row.campaign).link(),
            "purposes": purposes,
            "calls": store.calls(list(purposes)),
        },
    )


def purposes_of(store: Store, row: ConversationRow) -> dict[str, str]:
    """What calls were asked for ("core.novelty", "Linguist, round 2"), by their ids.

    They are those behind what was said, rated and debated, in this order, stored or not.
    """
    log = next((log for _, log in store.logs([row.id])), None)
    purposes = dict(_of_turns(log)) if log else {}
    for evaluation in store.evaluations(row.campaign, conversation=row.id):
        found = store.findings(evaluation.id)
        for rating in ratings_of(found):
            turn = "" if rating.turn is None else f", turn {rating.turn + 1}"
            for call in rating.calls:
                purposes.setdefault(call, f"{evaluation.name}.{rating.metric}{turn}")
        for said in statements_of(found):
            for call in said.calls:
                purposes.setdefault(call, f"{said.role}, round {said.round}")
    return purposes


def _of_turns(log: ConversationLog) -> Iterator[tuple[str, str]]:
    for number, turn in enumerate(log.interaction, 1):
        for call in turn.calls:
            yield call, f"turn {number}, {turn.speaker}"


_SUMS = text("""
    SELECT purpose, model, COUNT(*) AS calls,
           CASE WHEN COUNT(tokens_in) = COUNT(*) THEN SUM(tokens_in) END AS tokens_in,
           CASE WHEN COUNT(tokens_out) = COUNT(*) THEN SUM(tokens_out) END AS tokens_out,
           CASE WHEN COUNT(cost) = COUNT(*) THEN SUM(cost) END AS cost
    FROM call WHERE id IN :ids GROUP BY purpose, model ORDER BY MIN(created_at), purpose, model
""").bindparams(bindparam("ids", expanding=True))


def sums_of(store: Store, calls: Iterable[str]) -> Sequence[RowMapping]:
    """The stored calls of each purpose to each model; None where an endpoint did not say."""
    with store.connection() as connection:
        return connection.execute(_SUMS, {"ids": list(calls)}).mappings().all()
