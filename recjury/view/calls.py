"""The calls of a conversation: every prompt and reply, by what it was asked for."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from recjury.records import ConversationLog, ratings_of, statements_of
from recjury.store import CallRow, ConversationRow, Store
from recjury.view.data import Campaign
from recjury.view.rendering import Page


class Asked(NamedTuple):
    """A call, and what it was asked for ("core.novelty", "Linguist, round 2")."""

    purpose: str
    call: CallRow


def calls_page(store: Store, query: Mapping[str, str], id: str) -> Page:  # noqa: A002, ARG001
    """All calls of a conversation. Raises UserError if there is none."""
    row = store.conversation(id)
    asked = list(calls_of(store, row))
    return Page(
        "calls.j2",
        {
            "row": row,
            "campaign": Campaign(store, row.campaign).link(),
            "asked": asked,
        },
    )


def calls_of(store: Store, row: ConversationRow) -> Iterator[Asked]:
    """The stored calls behind what was said, rated and debated, in this order, once each."""
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
    for stored in store.calls(list(purposes)):
        yield Asked(purposes[stored.completion.call], stored)


def _of_turns(log: ConversationLog) -> Iterator[tuple[str, str]]:
    for number, turn in enumerate(log.interaction, 1):
        for call in turn.calls:
            yield call, f"turn {number}, {turn.speaker}"


def sums(asked: Iterable[Asked]) -> Iterator[dict[str, Any]]:
    """The calls of each purpose to each model; None where an endpoint did not say."""
    groups: dict[tuple[str, str], list[CallRow]] = {}
    for each in asked:
        groups.setdefault((each.call.purpose, each.call.model), []).append(each.call)
    for (purpose, model), calls in groups.items():
        done = [call.completion for call in calls]
        yield {
            "purpose": purpose,
            "model": model,
            "calls": len(calls),
            "tokens_in": _total([each.tokens_in for each in done]),
            "tokens_out": _total([each.tokens_out for each in done]),
            "cost": _total([each.cost for each in done]),
        }


def _total(values: list[float | None] | list[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
