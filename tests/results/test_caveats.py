"""What tables say of themselves that is not to be trusted."""

import asyncio
from typing import Any

import pytest

from recjury.records import Completion, Message, Request, Unit
from recjury.results import comparison, summary
from recjury.store import Store
from tests.results.filled import debate, evaluator, fill, log_of

SCORES = {"overall": [float(number) for number in range(50, 72)]}


def notes(store: Store, campaign: str = "films") -> str:
    return "\n".join(summary(store, campaign).notes)


def test_nothing_is_said_where_nothing_is_wrong(store: Store) -> None:
    logs = {name: log_of("s0", name, items=3) for name in ("one", "two")}
    fill(store, dict.fromkeys(logs, SCORES), logs=logs)
    assert notes(store) == ""


def test_lists(store: Store) -> None:
    """Newcomers' item 4: recall over lists of two items and of ten is not one figure."""
    logs = {
        "long": log_of("s0", items=10),
        "short": log_of("s0", items=2, linked=True),
        "silent": log_of("s0"),
    }
    fill(store, dict.fromkeys(logs, SCORES), logs=logs)
    said = notes(store)
    assert "long 10.0 and short 2.0 items a turn" in said
    assert "the lists of short were found in texts" in said
    assert "silent listed no item" in said


def test_lost_ratings_are_told_by_system(store: Store) -> None:
    lost = {"overall": [None, None, *SCORES["overall"][2:]]}
    fill(store, {"one": SCORES, "two": lost})
    found = summary(store)
    assert any(line.startswith("two: 2 ratings have no score") for line in found.problems)
    assert found.data["systems"]["two"]["core.overall"]["coverage"] == pytest.approx(20 / 22)
    assert any("two: 2 of 22 conversations lost scores" in note for note in comparison(store).notes)


def test_few_scenarios_several_users_and_one_score_for_all(store: Store) -> None:
    few = {"overall": [70.0, 71.0, 72.0]}
    fill(store, {"one": few, "two": few}, user="calm")
    fill(store, {"one": few, "two": few}, user="rude")
    assert "few scenarios (3)" in notes(store)
    assert "the users calm and rude" in notes(store)
    fill(store, {"one": {"novelty": [4.0] * 30}}, campaign="same")
    assert "main gives nearly one score to everything on core.novelty (4 in 30 of 30)" in notes(
        store, "same"
    )


def test_targets_that_histories_name_are_reported_apart(store: Store) -> None:
    """36 % of OpenDialKG's targets stand in the history already."""
    easy = log_of("s0", items=3)
    said = easy.scenario.history[0].model_copy(update={"items": easy.scenario.targets})
    scenario = easy.scenario.model_copy(update={"history": (said,)})
    found = {"success": [1.0], "rounds": [2.0]}
    outcome = [evaluator("outcome", "outcome")]
    logs = {"one": easy.model_copy(update={"scenario": scenario})}
    fill(store, {"one": found}, evaluators=outcome, logs=logs)
    more = {"success": [0.0, 1.0], "rounds": [2.0, 2.0]}
    fill(store, {"one": more}, evaluators=outcome, first=1)
    tables = summary(store).tables
    (apart,) = (table for name, table in tables.items() if "whose history names" in name)
    assert apart["metric"].to_list() == ["outcome.success"]
    assert apart["one"][0].startswith("0.50")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"protocol": "paper"}, "protocol: paper"),
        ({"evaluators": [{"kind": "core", "prompts": "core-paper"}]}, "an expert for films"),
    ],
)
def test_protocols_are_named(store: Store, config: dict[str, Any], said: str) -> None:
    book = log_of("s0", items=1)
    book = book.model_copy(update={"scenario": book.scenario.model_copy(update={"domain": "book"})})
    fill(store, {"one": SCORES}, config=config, logs={"one": book})
    assert said in notes(store)


def test_one_model_on_two_sides(store: Store) -> None:
    models = {alias: {"name": "gpt"} for alias in ("main", "second")}
    fill(store, {"one": SCORES}, config={"models": models})
    for number, (alias, purpose) in enumerate({"main": "user", "second": "judge"}.items()):
        request = Request((Message("user", (purpose,)),), purpose)
        reply = Completion("Yes.", call=f"k{number}", tokens_in=9, served="gpt-2024")
        asyncio.run(store.record([reply], request, alias, Unit("films", "c", "")))
    assert "gpt is the user and a judge: a model may prefer its own words" in notes(store)


def test_roles_without_a_say(store: Store) -> None:
    fill(store, {"one": SCORES}, evaluators=[evaluator()])
    for number in range(2):
        id_ = f"1111aaaa-one-llm-s{number}-0"
        found = [debate(70, *["Linguist"][:number])]
        asyncio.run(store.save_evaluation(id_, evaluator().id, 0, found, tries=0))
    assert "core: the Linguist had a score in the last round of 1 of 2 debates about one" in notes(
        store
    )
