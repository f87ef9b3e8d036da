"""A user that leaks every target of 200 real scenarios in ten ways gets none through."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from recjury.corpora import open_corpus
from recjury.records import Scenario, Speaker, UserContext
from recjury.simulator import LeakGuard, converse
from tests.simulator.doubles import EndlessSystem, ScriptedUser
from tests.simulator.independent import leaks, squeezed
from tests.simulator.ways import WAYS, bare, in_a_sentence

SCENARIOS = 100
HARMLESS = "My evening is free."
FINE = "Good stories make me happy."


class Leaker(ScriptedUser):
    """Names every target with each utterance, in one way after the other, from `first` on."""

    def __init__(self, first: int, *, stubborn: bool):
        super().__init__(self._leak, self._leak_again if stubborn else lambda moment, said: FINE)
        self._first = first

    def _leak(self, moment: UserContext) -> str:
        way = WAYS[(self._first + len(self.moments) - 1) % len(WAYS)]
        return self._all(way, moment.scenario)

    def _leak_again(self, moment: UserContext, said: str) -> str:
        way = WAYS[(self._first + len(self.moments) + 2) % len(WAYS)]
        return self._all(way, moment.scenario)

    def _all(self, way: Callable[[str], str], scenario: Scenario) -> str:
        return " ".join((HARMLESS, *(way(target.name) for target in scenario.targets)))


def _given_away(scenario: Scenario, sent: str) -> list[str]:
    titles = [bare(target.name) for target in scenario.targets]
    return [title for title in titles if leaks(title, sent, HARMLESS + FINE + NEUTRAL)]


NEUTRAL = "Could you suggest something along those lines? What would you recommend?"


@pytest.mark.parametrize("corpus", ["opendialkg", "redial"])
@pytest.mark.parametrize("stubborn", [True, False], ids=["rewrite leaks", "rewrite is fine"])
@pytest.mark.slow
def test_no_target_of_real_scenarios_gets_through(
    data_folder: Path, corpus: str, stubborn: bool
) -> None:
    opened = open_corpus(corpus, data_folder)
    guard = LeakGuard(opened.catalogue)
    scenarios = opened.scenarios(limit=SCENARIOS, seed=7).scenarios
    assert len(scenarios) == SCENARIOS

    async def hold() -> list[str]:
        problems = []
        for number, scenario in enumerate(scenarios):
            for first in (0, 5):
                user, system = Leaker(first, stubborn=stubborn), EndlessSystem("Hm, go on.")
                log = await converse(user, system, scenario, guard, opened.catalogue)
                sent = [t.text for t in log.interaction if t.speaker is Speaker.USER]
                seen = [t.text for t in system.seen[len(scenario.history) :]]
                assert [t.text for t in log.interaction][: len(seen)] == seen
                problems += [
                    f"{number} {title!r} in {text!r}"
                    for text in sent
                    for title in _given_away(scenario, text)
                ]
                missed = len(sent) - log.leaks_caught
                if missed or log.leaks_through:
                    problems.append(f"{number} caught all but {missed}: {sent}")
        return problems

    assert asyncio.run(hold()) == []


def test_the_checker_sees_each_way(data_folder: Path) -> None:
    """The independent checker would notice every one of the ten ways, were they sent."""
    for way in WAYS:
        assert leaks("The Incredibles", way("The Incredibles (2004)"), "") or way is WAYS[3]
    assert squeezed(WAYS[3]("The Incredibles (2004)")).count("inccredibles")
    assert not leaks("The Incredibles", FINE, "")
    assert in_a_sentence("Up (2009)") == "Have you got Up on your shelf?"
