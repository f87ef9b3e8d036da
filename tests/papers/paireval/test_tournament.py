"""A tournament: which comparison comes next, the ranking, and its certainty."""

import asyncio
import math

import pytest

from recjury.errors import CallFailed, DataError
from recjury.judges.paireval.comparison import Comparer
from recjury.papers.paireval.tournament import (
    Meeting,
    TournamentPlan,
    TournamentResult,
    meetings_of,
    run_tournament,
)
from recjury.records import ChatRequest, ConversationLog, Level
from recjury.stats.ranking import Match, Uncertainty, standings, strengths
from tests.judges.cases import a_log
from tests.judges.paireval.comparing import judging, said

pytest.importorskip("evalica")

SYSTEMS = {"bad": 0, "good": 3, "middling": 1}


def _log(system: str, scenario: int, *said_in_turns: str) -> ConversationLog:
    log = a_log(*said_in_turns)
    return log.model_copy(
        update={
            "system": system,
            "scenario": log.scenario.model_copy(update={"record": str(scenario)}),
        }
    )


def _logs(scenarios: int = 6) -> list[ConversationLog]:
    return [
        _log(system, number, f"{system} worth {SYSTEMS[system]}", f"{system} in {number}")
        for number in range(scenarios)
        for system in SYSTEMS
    ]


def _quality(text: str) -> float:
    return max((SYSTEMS[name] for name in SYSTEMS if f">{name} " in text), default=0)


def _answer(request: ChatRequest) -> object:
    first, second = request.messages[-1].text.split("B:\n", 1)
    odd = 0.5 + 0.15 * (_quality(first) - _quality(second))
    return said({"A": odd, "B": 1 - odd})


def _play(
    plan: TournamentPlan, level: Level = Level.DIALOGUE
) -> tuple[TournamentResult, list[ChatRequest]]:
    gateway, requests = judging(script=_answer)  # type: ignore[arg-type]
    meetings = meetings_of(_logs(), level)
    return asyncio.run(run_tournament(Comparer(gateway, "judge"), meetings, plan)), requests


def test_systems_are_ranked_by_what_they_said_in_the_same_scenario() -> None:
    found, requests = _play(TournamentPlan())
    assert [each.system for each in found.standings] == ["good", "middling", "bad"]
    assert len(found.matches) == 6 * 3
    assert len(requests) == 2 * 6 * 3
    assert found.next is None
    assert found.left == 0
    assert [each.matches for each in found.standings] == [12] * 3
    assert sum(each.strength for each in found.standings) == pytest.approx(0, abs=1e-6)


def test_turns_are_compared_by_their_number() -> None:
    meetings = meetings_of(_logs(2), Level.TURN)
    assert len(meetings) == 2 * 3 * 2
    assert {each.place for each in meetings} == {0, 1}
    assert all(each.contenders[0].text for each in meetings)
    found, _ = _play(TournamentPlan(level="turn"), Level.TURN)
    assert len(found.matches) == 6 * 3 * 2


def test_a_longer_tournament_begins_as_the_shorter_one_and_says_what_is_next() -> None:
    short, asked = _play(TournamentPlan(comparisons=4, at_once=1))
    longer, more = _play(TournamentPlan(comparisons=5, at_once=1))
    assert longer.matches[:4] == short.matches
    assert more[: len(asked)] == asked
    assert short.next is not None
    fifth = longer.matches[4]
    assert (short.next.one, short.next.other, short.next.scenario) == (
        fifth.one,
        fifth.other,
        fifth.block,
    )
    assert short.left == 14


def test_it_ends_when_neighbours_are_clearly_apart() -> None:
    logs = [
        log.model_copy(update={"scenario": log.scenario.model_copy(update={"record": str(n)})})
        for n in range(60)
        for log in _logs(1)
    ]
    gateway, _ = judging(script=_answer)  # type: ignore[arg-type]
    meetings = meetings_of(logs, Level.DIALOGUE)
    plan = TournamentPlan(until_apart=True)
    found = asyncio.run(run_tournament(Comparer(gateway, "judge"), meetings, plan))
    assert found.are_apart
    assert 0 < found.left < len(meetings)


def test_a_comparison_without_a_result_is_no_match() -> None:
    gateway, _ = judging(script=lambda _: CallFailed("gone"))
    meetings = meetings_of(_logs(1), Level.DIALOGUE)
    found = asyncio.run(run_tournament(Comparer(gateway, "judge"), meetings, TournamentPlan()))
    assert (found.matches, found.unscored, found.left) == ((), {"gone": 3}, 0)
    assert all(each.strength == pytest.approx(0) for each in found.standings)


def test_what_cannot_be_compared_is_an_error() -> None:
    with pytest.raises(DataError, match="two systems or more, got good"):
        meetings_of([_log("good", 1, "x")], Level.DIALOGUE)
    with pytest.raises(DataError, match="no scenario was played by two systems"):
        meetings_of([_log("good", 1, "x"), _log("bad", 2, "x")], Level.DIALOGUE)


def test_repeats_meet_in_their_order() -> None:
    logs = [_log(system, 1, f"{system} {n}") for n in range(2) for system in ("a", "b")]
    meetings: list[Meeting] = meetings_of(logs, Level.TURN)
    texts = [tuple(each.text for each in meeting.contenders) for meeting in meetings]
    assert texts == [("a 0", "b 0"), ("a 1", "b 1")]


def test_strengths_are_those_of_bradley_and_terry() -> None:
    """For two systems the log-odds are known: wins and losses, and half a comparison before."""
    matches = [Match("a", "b", 1.0, str(n)) for n in range(3)] + [Match("a", "b", 0.0, "3")]
    a, b = strengths(["a", "b"], matches)
    assert a - b == pytest.approx(math.log(3.25 / 1.25), abs=1e-6)
    never_lost = strengths(["a", "b"], [Match("a", "b", 1.0, "0")] * 5)
    assert never_lost[0] - never_lost[1] == pytest.approx(math.log(5.25 / 0.25), abs=1e-6)


def test_intervals_come_from_resampled_scenarios() -> None:
    matches = [Match("a", "b", 0.8 if n % 3 else 0.4, str(n)) for n in range(12)]
    first, last = standings(["b", "a"], matches)
    assert (first.system, last.system) == ("a", "b")
    assert first.low is not None
    assert first.high is not None
    assert first.low < first.strength < first.high
    assert first.above_next is not None
    assert 0.9 < first.above_next <= 1
    assert last.above_next is None
    assert first.wins + last.wins == pytest.approx(1)
    assert standings(["b", "a"], matches[:1])[0].low is None


def test_the_open_and_the_unknown_teach_most() -> None:
    systems = ["a", "b", "c"]
    played = [Match("a", "b", 0.5, str(n)) for n in range(5)]
    known = Uncertainty(systems, played)
    assert known.gain("a", "c") > known.gain("a", "b")
    assert known.variance("a", "b") < known.variance("b", "c")
    decided = Uncertainty(["a", "b"], [Match("a", "b", 1.0, str(n)) for n in range(5)])
    even = Uncertainty(["a", "b"], [Match("a", "b", n % 2, str(n)) for n in range(6)])
    assert even.variance("a", "b") < decided.variance("a", "b")
    before = known.gain("a", "c")
    known.add("a", "c")
    assert known.gain("a", "c") < before
