"""The calls of a conversation: every prompt and reply, by what it was asked for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import RowMapping, bindparam, text

from recjury.records import ConversationLog, ratings_of, statements_of
from recjury.store import ConversationRow, Store
from recjury.view.data import Campaign
from recjury.view.rendering import Page


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
