"""Beside the means: seconds and dollars, settings of variants, and names that no catalogue has."""

import asyncio
import io

import pandas as pd
import pytest

from recjury.records import Completion, ItemRef, Message, Request, Turn, Unit
from recjury.results import render, summary
from recjury.store import Store
from tests.results.filled import fill, log_of

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


NAMES = ("chat/k=1/mood=calm", "chat/k=2/mood=calm", "popular")


def test_settings_are_columns(store: Store) -> None:
    fill(store, {name: {"novelty": [number, 2, 3]} for number, name in enumerate(NAMES)})
    found = summary(store)
    table = found.tables["Settings that differ"]
    assert list(table.columns) == ["system", "k", "mood", "core.novelty"]
    assert table[["system", "k", "mood"]].to_numpy().tolist() == [
        [NAMES[0], "1", "calm"],
        [NAMES[1], "2", "calm"],
        ["popular", "-", "-"],
    ]
    numbers = pd.read_csv(io.StringIO(render(found, "csv")))
    assert numbers["k"].tolist()[:2] == [1, 2]


def test_without_variants_there_are_no_such_columns(store: Store) -> None:
    fill(store, {name: {"novelty": [1, 2, 3]} for name in ("a", "b", "c")})
    assert "Settings that differ" not in summary(store).tables


FOUND, MISSING = ItemRef(id="f1", name="Heat (1995)"), ItemRef(id="?x", name="X")


@pytest.mark.parametrize(
    ("items", "read", "not_found"), [([FOUND], 2, 0), ([FOUND, MISSING], 3, 1), ([], 1, 0)]
)
def test_names_that_are_not_found(
    store: Store, items: list[ItemRef], read: int, not_found: int
) -> None:
    log = log_of("s0", interaction=[Turn(speaker="system", text="These.", items=tuple(items))])
    fill(store, {"one": {"overall": [50.0]}}, logs={"one": log})
    found = summary(store, "films")
    assert found.data["names"] == {"read": read, "not_found": not_found, "some": ["X"][:not_found]}
    said = [note for note in found.notes if "not in the catalogue" in note]
    assert said == [f"1 of {read} names are not in the catalogue: X"][:not_found]
