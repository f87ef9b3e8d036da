"""Seconds and dollars beside the means."""

import asyncio

import pytest

from recjury.records import Completion, Message, Request, Unit
from recjury.results import summary
from recjury.store import Store
from tests.results.filled import fill

SCORES = {"overall": [50.0, 60.0]}


def ask(store: Store, conversation: str, cost: float | None) -> None:
    """Keep a call for a conversation."""
    request = Request((Message("user", ("Hello?",)),), "judge")
    reply = Completion("Yes.", call=f"{conversation}{cost}", cost=cost)
    asyncio.run(store.record([reply], request, "main", Unit("films", conversation, "")))


def test_seconds_and_dollars_are_means(store: Store) -> None:
    fill(store, {"one": SCORES, "two": SCORES})
    for cost in (0.1, 0.2):
        ask(store, "1111aaaa-one-llm-s0-0", cost)
    ask(store, "1111aaaa-two-llm-s0-0", None)
    found = summary(store)
    one, two = found.data["effort"]
    assert (one["seconds"], one["dollars"]) == (0.5, pytest.approx(0.15))
    assert (two["seconds"], two["dollars"]) == (0.5, None)
    assert [list(row) for row in found.tables["Time and cost"].to_numpy()] == [
        ["one", "0.50", "0.1500"],
        ["two", "0.50", "-"],
    ]


def test_what_is_not_known_has_no_column(store: Store) -> None:
    fill(store, {"one": SCORES})
    assert list(summary(store).tables["Time and cost"].columns) == ["system", "seconds a turn"]
