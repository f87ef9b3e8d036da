"""`outcome`: success by targets or by wishes, how a conversation ended, and leaks."""

import asyncio
from typing import Any

import pytest

from recjury.corpora import Context
from recjury.judges import Outcome
from recjury.records import ConversationLog, Event, ItemRef, Scenario, Status, Turn, ratings_of
from tests.demo.talk import log, system, user
from tests.logs import CATALOGUE
from tests.simulator.doubles import ask_of

HEAT = "Heat (1995)"


def rate(given: ConversationLog) -> dict[str, float | None]:
    evaluator = Outcome().prepared(Context({"sample": CATALOGUE}))
    found = ratings_of(asyncio.run(evaluator.rate(given, ask_of())))
    assert [rating.metric for rating in found] == [metric.name for metric in evaluator.metrics]
    for rating in found:
        assert (rating.score is None) == (rating.status is Status.NOT_APPLICABLE)
        assert rating.score is not None or rating.reason
    return {rating.metric: rating.score for rating in found}


@pytest.mark.parametrize(
    ("wishes", "films", "success"),
    [
        (["crime", "thriller"], [HEAT], 1),
        (["genre: crime"], [HEAT], 1),
        (["Crime", "Al Pacino"], [HEAT], 1),
        (["crime", "horror"], [HEAT], 0),
        (["crime"], ["Alien (1979)"], 0),
        (["crime", "horror"], [HEAT, "Alien (1979)"], 0),
    ],
)
def test_wishes_are_met_by_one_item(wishes: list[str], films: list[str], success: float) -> None:
    found = rate(log(system("These.", *films), targets=(), wishes=wishes))
    assert found["success"] == success
    assert found["recall@1"] is None
    assert found["rounds_to_success"] == (1 if success else None)


def test_a_wish_that_the_catalogue_does_not_know_is_not_applicable() -> None:
    assert rate(log(system("This.", HEAT), targets=(), wishes=["a slow film"]))["success"] is None


def test_a_success_has_its_round() -> None:
    given = log(system("This?", "Alien (1979)"), user("No."), system("This?", HEAT), user("Yes."))
    found = rate(given)
    assert (found["success"], found["rounds_to_success"], found["rounds"]) == (1, 2, 2)


@pytest.mark.parametrize("ending", ["hit", "named", "round limit"])
def test_endings_are_counted(ending: str) -> None:
    found = rate(log(system("This.", HEAT), ending=ending))
    names = {name: score for name, score in found.items() if name.startswith("ended")}
    assert names.pop(f"ended_{ending.replace(' ', '_')}") == 1
    assert set(names.values()) == {0}


def test_of_a_recording_endings_and_leaks_are_not_known() -> None:
    found = rate(log(system("This.", HEAT), ending="recorded"))
    assert found["leaks"] is None
    assert found["ended_hit"] is None
    assert found["success"] == 1


def test_who_plays_and_lists_nothing_has_found_nothing() -> None:
    """An agent that lost its lists must not lose its success rate; a recording may have none."""
    played = rate(log(system("Sorry, something went wrong."), ending="round limit"))
    assert (played["success"], played["recall@10"], played["last_recall@10"]) == (0, 0, 0)
    recorded = rate(log(system("Sorry, something went wrong."), ending="recorded"))
    assert recorded["success"] is None


def test_leaks_are_counted() -> None:
    leak = Event(kind="leak", value={"text": "Heat?"})
    leaked = Turn(speaker="user", text="Another?", events=(leak,))
    assert rate(log(system("Hm."), leaked, system("Hm.")))["leaks"] == 1
    assert rate(log(system("Hm."), user("Another?")))["leaks"] == 0


def test_an_item_that_is_listed_twice_counts_once() -> None:
    """Case 23: nothing is above 1, and ranks are those of the list without repeats."""
    heat, thief = CATALOGUE.resolve(HEAT), CATALOGUE.resolve("Thief (1981)")
    scenario = Scenario(id="1", corpus="sample", targets=(thief, thief))
    listed: tuple[ItemRef, ...] = (heat, heat, heat, thief)
    values: dict[str, Any] = {"scenario": scenario, "ending": "hit"}
    turn = Turn(speaker="system", text="Try.", items=listed)
    found = rate(ConversationLog(interaction=(turn,), **values))
    assert (found["recall@1"], found["recall@5"]) == (0, 1)
    assert max(score for score in found.values() if score is not None) == 1
