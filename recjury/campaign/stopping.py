"""End a campaign early: play only what is needed to decide its pairs of systems.

Scenarios are in random order. A pair's tests take the difference of both systems' scores in that
order, whichever conversation ends first, so that a conversation's length cannot bias them. They
hold however often one looks (`recjury.stats.sequential`).
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from recjury.campaign.config import StopRule
from recjury.campaign.plan import Unit
from recjury.records import JSON, Metric, mean_score, shown_ratings
from recjury.store import ConversationResult

if TYPE_CHECKING:
    from recjury.stats.sequential import Decision

_AHEAD = 4  # a quarter of `min_scenarios` is open beyond the scenarios that have ended

Read = Callable[[Sequence[str]], Iterable[ConversationResult]]
_Pair = tuple[str, str]


class Stopped(NamedTuple):
    """What was decided about pairs of systems, and how many conversations were not needed.

    Differences are those of the first system minus the second, after `n` scenarios.
    """

    metric: str
    higher_is_better: bool
    decisions: tuple["Decision", ...]
    not_needed: int
    planned: int

    def as_json(self) -> dict[str, JSON]:
        """The stable keys of `--json`."""
        pairs: list[JSON] = [
            {
                "a": each.a,
                "b": each.b,
                "better": self._better(each),
                "difference": each.mean,
                "p": each.p,
                "scenarios": each.n,
            }
            for each in self.decisions
        ]
        counts = {"not_needed": self.not_needed, "planned": self.planned}
        return {"metric": self.metric, "pairs": pairs, **counts}

    @property
    def lines(self) -> list[str]:
        """What is shown after a run."""
        found = [self._line(each) for each in self.decisions]
        if self.not_needed:
            saved = f"{self.not_needed} of {self.planned} conversations were not needed"
            return [*found, f"stopped early: {saved}"]
        return [*found, "no conversation was left out"]

    def _better(self, decision: "Decision") -> str | None:
        if decision.better is None or self.higher_is_better:
            return decision.better
        return decision.b if decision.better == decision.a else decision.a

    def _line(self, decision: "Decision") -> str:
        better = self._better(decision)
        after = f"after {decision.n} scenarios"
        if better is None or decision.mean is None:
            return f"{self.metric}: {decision.a} and {decision.b} are not decided {after}"
        other = decision.b if better == decision.a else decision.a
        difference = f"{abs(decision.mean):.3g} on average"
        return f"{self.metric}: {better} is better than {other} ({difference}), decided {after}"


class Stopping:
    """Takes the scores of the units of a campaign, and says which units are still needed."""

    def __init__(
        self, rule: StopRule, label: str, metric: Metric, units: Sequence[Unit], read: Read
    ):
        """`metric` of the evaluator `label` has bounds; `units` are in the order of the plan.

        `read` gives the results of conversations by their ids.
        """
        from recjury.stats.sequential import SequentialPairs

        assert metric.high is not None
        self.label, self.metric = label, metric
        self._rule, self._read = rule, read
        self._groups = _Groups(units)
        self._planned = len(units)
        span = metric.high - metric.low
        systems = dict.fromkeys(unit.system for unit in units)
        pairs: Iterable[_Pair] = rule.between or combinations(systems, 2)
        self._tests = SequentialPairs(
            pairs, -span, span, confidence=rule.pairs, least=rule.min_scenarios
        )
        self._tested = {system for each in self._tests.undecided for system in each}
        self._ended = 0  # the scenarios that the tests have taken
        self._changed = asyncio.Condition()
        self._not_needed: set[str] = set()

    def take(self, units: Collection[str]) -> None:
        """Units that have ended, by their ids."""
        found = self._read(sorted(units))
        self._groups.scores |= {each.conversation: self._score(each) for each in found}
        self._decide()

    async def settle(self, unit: Unit) -> None:
        """A unit that has ended in this run, with a score or without."""
        async with self._changed:
            self.take([unit.id])
            self._changed.notify_all()

    async def needs(self, unit: Unit) -> bool:
        """Wait until it is the unit's turn; False as soon as the unit is not needed."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._is_over(unit) or self._has_turn(unit))
            if self._is_over(unit):
                self._not_needed.add(unit.id)
        return unit.id not in self._not_needed

    def result(self) -> Stopped:
        """What is decided now."""
        return Stopped(
            metric=f"{self.label}.{self.metric.id}",
            higher_is_better=self.metric.higher_is_better,
            decisions=self._tests.decisions,
            not_needed=len(self._not_needed),
            planned=self._planned,
        )

    def _score(self, result: ConversationResult) -> float | None:
        """The metric's score of a conversation, the mean of several judgings; None without one."""
        scores = [
            mean_score(shown_ratings(each.ratings).get(self.metric.id, ()))
            for each in result.evaluations
            if each.label == self.label
        ]
        scored = [score for score in scores if score is not None]
        return fmean(scored) if scored else None

    def _open_pairs(self, system: str) -> Sequence[_Pair]:
        """The pairs for which the system is played; one that is in none is played for all."""
        undecided = self._tests.undecided
        if system in self._tested:
            return [pair for pair in undecided if system in pair]
        return undecided

    def _is_over(self, unit: Unit) -> bool:
        return not self._open_pairs(unit.system)

    def _has_turn(self, unit: Unit) -> bool:
        least = self._rule.min_scenarios
        return self._groups.place(unit) < max(least, self._ended + max(1, least // _AHEAD))

    def _decide(self) -> None:
        """Give scenario after scenario to the tests of all pairs at the same time, so that the same
        scores give the same decisions."""
        while undecided := self._tests.undecided:
            if not all(self._groups.has_ended(self._ended, pair) for pair in undecided):
                return
            self._tests.add({pair: self._groups.gap(self._ended, pair) for pair in undecided})
            self._ended += 1


class _Groups:
    """The units of each scenario, repeats together, in the order of the plan."""

    def __init__(self, units: Sequence[Unit]):
        self.scores: dict[str, float | None] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._units: list[dict[str, list[str]]] = []
        for unit in units:
            place = self._places.setdefault(_key(unit), len(self._units))
            if place == len(self._units):
                self._units.append({})
            self._units[place].setdefault(unit.system, []).append(unit.id)

    def place(self, unit: Unit) -> int:
        """The place of the unit's scenario, from 0."""
        return self._places[_key(unit)]

    def has_ended(self, place: int, pair: _Pair) -> bool:
        """Whether both systems' conversations of the scenario have ended."""
        if place == len(self._units):
            return False
        own = self._units[place]
        return all(unit in self.scores for system in pair for unit in own.get(system, ()))

    def gap(self, place: int, pair: _Pair) -> float | None:
        """The first system's score minus the second's, means of the repeats that have one."""
        first, second = (self._score(place, system) for system in pair)
        return None if first is None or second is None else first - second

    def _score(self, place: int, system: str) -> float | None:
        found = [self.scores[unit] for unit in self._units[place].get(system, ())]
        scored = [score for score in found if score is not None]
        return fmean(scored) if scored else None


def _key(unit: Unit) -> tuple[str, str]:
    assert unit.scenario is not None
    return unit.corpus, unit.scenario.id
