"""A campaign that ends as soon as its pairs of systems are decided."""

import asyncio
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign.config import CampaignConfig, StopRule
from recjury.campaign.plan import Unit
from recjury.campaign.stopping import Stopped, Stopping
from recjury.errors import ConfigError
from recjury.records import Metric, Rating, Scenario, Status
from recjury.store import ConversationResult, EvaluationResult
from tests.cli.front_door import Ended, recjury

METRIC = Metric(id="overall", title="Overall", low=0, high=100)
PLACES = 60


def units_of(*systems: str, places: int = PLACES) -> list[Unit]:
    return [
        Unit(f"{system}{place}", "c", system, 0, Scenario(corpus="c", record=f"{place}"))
        for place in range(places)
        for system in systems
    ]


def result_of(unit: str, score: float | None) -> ConversationResult:
    rating = Rating(
        evaluator="debate",
        factor="Overall",
        score=score,
        status=Status.SCORED if score is not None else Status.NOT_APPLICABLE,
        reason="" if score is not None else "nobody spoke",
        low=0,
        high=100,
    )
    evaluation = EvaluationResult(
        evaluation="e", label="core", judging=0, stages=frozenset(), failures={}, ratings=(rating,)
    )
    return ConversationResult(
        conversation=unit, system="s", scenario="s", corpus="c", repeat=0, evaluations=(evaluation,)
    )


class Campaign:
    """Plays units with known scores, each after a few turns of the event loop."""

    def __init__(
        self,
        scores: Mapping[str, Callable[[int], float | None]],
        rule: StopRule = StopRule(),  # noqa: B008 (immutable)
        *,
        seed: int = 0,
        ended: Iterable[str] = (),
    ):
        self._scores, self._lot = scores, random.Random(seed)
        self.units = units_of(*scores)
        self.played: list[str] = []
        self.ended = set(ended)
        self.stopping = Stopping(rule, "core", METRIC, self.units, self._read)

    def run(self) -> Stopped:
        async def every() -> None:
            self.stopping.take(self.ended)
            left = [unit for unit in self.units if unit.id not in self.ended]
            await asyncio.gather(*map(self._play, left))

        asyncio.run(every())
        return self.stopping.result()

    async def _play(self, unit: Unit) -> None:
        if not await self.stopping.needs(unit):
            return
        for _ in range(self._lot.randrange(20)):
            await asyncio.sleep(0)
        self.played.append(unit.id)
        await self.stopping.settle(unit)

    def _read(self, units: Sequence[str]) -> list[ConversationResult]:
        return [result_of(unit, self._score(unit)) for unit in units]

    def _score(self, unit: str) -> float | None:
        found = next(each for each in self.units if each.id == unit)
        assert found.scenario is not None
        return self._scores[found.system](int(found.scenario.record))


def noise(mean: float, key: str) -> Callable[[int], float]:
    return lambda place: mean + random.Random(f"{key}{place}").uniform(-10, 10)


FAR_APART = {"a": noise(80, "a"), "b": noise(30, "b")}


def test_systems_far_apart_are_decided_and_the_rest_is_not_played() -> None:
    campaign = Campaign(FAR_APART)
    found = campaign.run()
    (decision,) = found.decisions
    assert (decision.a, decision.b, decision.better) == ("a", "b", "a")
    assert 20 <= decision.n < PLACES
    assert found.not_needed == found.planned - len(campaign.played) > 0
    # A quarter of the least number may be open beyond what has ended.
    assert len(campaign.played) <= 2 * (decision.n + 5)
    assert found.lines[-1].startswith("stopped early: ")


def test_equal_systems_are_played_to_the_end() -> None:
    campaign = Campaign({"a": noise(50, "a"), "b": noise(50, "b")})
    found = campaign.run()
    assert len(campaign.played) == found.planned == 2 * PLACES
    assert found.decisions[0].better is None
    assert found.lines == [
        f"core.overall: a and b are not decided after {PLACES} scenarios",
        "no conversation was left out",
    ]


def test_the_order_in_which_conversations_end_changes_no_decision() -> None:
    scores = {**FAR_APART, "c": noise(45, "c")}
    assert len({Campaign(scores, seed=seed).run().decisions for seed in range(5)}) == 1


def test_an_interrupted_campaign_decides_the_same() -> None:
    whole = Campaign(FAR_APART)
    found = whole.run()
    for kept in (0, 10, len(whole.played)):
        again = Campaign(FAR_APART, seed=3, ended=whole.played[:kept])
        assert again.run().decisions == found.decisions
    assert again.played == []


def test_a_system_that_is_decided_is_not_played_further() -> None:
    campaign = Campaign({**FAR_APART, "c": noise(30, "c")})
    found = campaign.run()
    assert [each.better for each in found.decisions] == ["a", "a", None]
    played = [sum(unit.startswith(system) for unit in campaign.played) for system in "abc"]
    assert played[0] < played[1] == played[2] == PLACES


def test_only_named_pairs_are_waited_for() -> None:
    rule = StopRule(between=(("a", "b"),))
    campaign = Campaign({**FAR_APART, "c": noise(30, "c")}, rule)
    found = campaign.run()
    assert [(each.a, each.b) for each in found.decisions] == [("a", "b")]
    assert sum(unit.startswith("c") for unit in campaign.played) < PLACES


def test_what_has_no_score_decides_nothing() -> None:
    campaign = Campaign({"a": noise(80, "a"), "b": lambda _: None})
    found = campaign.run()
    assert (found.decisions[0].n, found.decisions[0].better) == (0, None)
    assert len(campaign.played) == 2 * PLACES


def test_repeats_of_a_scenario_are_one_value() -> None:
    units = [unit._replace(id=f"{unit.id}-{n}", repeat=n) for unit in units_of("a", "b", places=1)
             for n in range(3)]  # fmt: skip
    scores = {"a0-0": 10.0, "a0-1": None, "a0-2": 30.0, "b0-0": 5.0, "b0-1": 5.0, "b0-2": 5.0}
    stopping = Stopping(
        StopRule(), "core", METRIC, units, lambda ids: [result_of(id_, scores[id_]) for id_ in ids]
    )
    stopping.take([*scores][:-1])
    assert stopping.result().decisions[0].n == 0
    stopping.take(["b0-2"])
    assert stopping.result().decisions[0].mean == pytest.approx(15)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"stop": {"metric": "core.joy"}}, "stop.metric: 'core.joy' is not in this campaign"),
        ({"stop": {"metric": "outcome.recall_at_1"}, "systems": ["retrieval"]}, "only one system"),
        ({"stop": {"between": [["kbrd", "x"]]}}, "stop.between: no system is called 'x'"),
        ({"stop": {"between": [["kbrd", "kbrd"]]}}, "kbrd cannot be compared with itself"),
        ({"stop": {"between": [["kbrd", "retrieval"], ["retrieval", "kbrd"]]}}, "two pairs of"),
        ({"stop": {"pairs": 1}}, "less than 1"),
        ({"stop": {"min_scenarios": 1}}, "greater than or equal to 2"),
    ],
)
def test_a_wrong_rule_is_refused(changed: dict[str, Any], message: str) -> None:
    given = {"scenarios": ["sample"], "systems": ["kbrd", "retrieval"], **changed}
    with pytest.raises((ValueError, ConfigError)) as caught:
        CampaignConfig.model_validate(given)
    assert message in str(caught.value)


SYSTEMS = '''
from recjury.records import Metric, Rating, SystemReply


class Clever:
    said = "Do you like thrillers? You should see Heat, a tense film of 1995."

    def __init__(self, corpus, *, name):
        self.name, self.settings = name, {"said": self.said}

    async def respond(self, conversation):
        return SystemReply(text=self.said)

    async def aclose(self):
        pass


class Silent(Clever):
    said = "no"


class Length:
    """The words of the first answer, 10 at most, with some noise."""

    metrics = (Metric(id="words", title="Words", low=0, high=10),)
    settings = {}

    def rate(self, log):
        noise = len(log.scenario.record) % 2
        words = min(9, len(log.system_turns[0].text.split())) + noise
        return [Rating(evaluator="length", factor="words", score=words, low=0, high=10)]
'''
FILE = """
scenarios: [{{corpus: sample, limit: 30}}]
systems:
  - {{kind: python, name: clever, path: "far_apart_systems:Clever"}}
  - {{kind: python, name: silent, path: "far_apart_systems:Silent"}}
evaluators: [{{kind: python, path: "far_apart_systems:Length", name: length}}]
{stop}
"""


@pytest.mark.slow
def test_a_campaign_stops_and_goes_on_without_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("far_apart_systems.py").write_text(SYSTEMS, "utf-8")

    def run(stop: str) -> dict[str, Any]:
        Path("file.yaml").write_text(FILE.format(stop=stop), "utf-8")
        ended: Ended = recjury(
            monkeypatch, capsys, "run", "file.yaml", "--store", "sqlite:///s.db", "--json"
        )
        assert ended.code == 0, ended.err
        found: dict[str, Any] = json.loads(ended.out)
        return found

    early = run("stop: {pairs: 0.9, min_scenarios: 8}")
    assert early["stopped"]["metric"] == "length.words"
    (pair,) = early["stopped"]["pairs"]
    assert pair["better"] == "clever"
    assert early["conversations"]["done"] == 60 - early["stopped"]["not_needed"] < 60
    again = run("stop: {pairs: 0.9, min_scenarios: 8}")
    assert again["stopped"] == early["stopped"]
    assert again["conversations"] == early["conversations"]
    whole = run("")
    assert whole["campaign"] == early["campaign"]
    assert whole["stopped"] is None
    assert whole["conversations"]["done"] == 60
