"""Judges with planted preferences for their own model, whose size is known."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from recjury.agreement.judge_scores import JudgeScores, read_judges
from recjury.agreement.self_preference import ALL, self_preferences
from recjury.errors import DataError
from recjury.records import JSON, Factor, Rating, evaluator_id
from recjury.store import Store
from tests.cli.front_door import Command
from tests.report.filling import Played, evaluator, fill

LENIENCE = {"one": 0.3, "two": -0.2, "other": 0.0}
MODELS = {"one": "model-1", "two": "model-2", "other": "model-3"}


def _judged(
    seed: int, *, bias: float = 0.4, judges: Sequence[str] = tuple(LENIENCE), scenarios: int = 30
) -> JudgeScores:
    """`one` prefers system s1 by `bias`, `two` prefers s2 by .2; s3 runs no judge's model."""
    rng = np.random.default_rng(seed)
    scores: dict[str, dict[str, float]] = {judge: {} for judge in judges}
    systems, clusters = {}, {}
    for number in range(scenarios):
        hard = rng.normal()
        for system, level in (("s1", 0.5), ("s2", 0.0), ("s3", -1.0)):
            name = f"{system}/{number}"
            systems[name], clusters[name] = system, str(number)
            quality = level + hard + rng.normal()
            for judge in judges:
                extra = {("one", "s1"): bias, ("two", "s2"): 0.2}.get((judge, system), 0.0)
                own = quality + LENIENCE[judge] + extra + rng.normal(0, 0.5)
                scores[judge][name] = own
    return JudgeScores(
        {"core.x": scores},
        {"core.x": 4.0},
        {judge: MODELS[judge] for judge in judges},
        {"s1": "model-1", "s2": "model-2", "s3": None},
        systems,
        clusters,
    )


def test_planted_preferences_are_found() -> None:
    one, two = self_preferences(_judged(0, scenarios=4_000), resamples=100)
    assert (one.judge, one.own, one.others) == ("one", ("s1",), ("s2", "s3"))
    assert one.against == ("other",), "the judge whose model no system runs"
    assert one.is_neutral
    assert one.bias.value == pytest.approx(0.4, abs=0.04)
    assert two.bias.value == pytest.approx(0.2, abs=0.04)
    assert one.own_gap == pytest.approx(0.7, abs=0.04), "its lenience is not its bias"
    assert (one.n_own, one.n_others) == (4_000, 8_000)


def test_without_a_neutral_judge_both_preferences_are_in_it() -> None:
    (one, two) = self_preferences(_judged(1, judges=("one", "two"), scenarios=4_000), resamples=100)
    assert not one.is_neutral
    assert one.against == ("two",)
    # On s1 one is .4 too high; on the others, two is .2 too high on one of the two systems.
    assert one.bias.value == pytest.approx(0.5, abs=0.05)
    assert two.bias.value == pytest.approx(0.4, abs=0.05)


def test_the_interval_covers() -> None:
    found = [self_preferences(_judged(seed), resamples=200)[0].bias for seed in range(150)]
    covered = [
        each.low is not None and each.high is not None and each.low <= 0.4 <= each.high
        for each in found
    ]
    assert 0.9 <= np.mean(covered) <= 0.99


def test_nothing_is_said_without_what_it_needs() -> None:
    judged = _judged(2)
    with pytest.raises(DataError, match=r"no system runs the model of a judge .*s1 gpt"):
        self_preferences(judged._replace(models=dict.fromkeys(("s1", "s2", "s3"), "gpt")))
    with pytest.raises(DataError, match="no judge of this campaign runs a model"):
        self_preferences(judged._replace(judges=dict.fromkeys(MODELS, "")))
    alone = _judged(2, judges=("one",))
    with pytest.raises(DataError, match="another judge has to rate the same metrics"):
        self_preferences(alone)
    everywhere = judged._replace(models=dict.fromkeys(("s1", "s2", "s3"), "model-1"))
    with pytest.raises(DataError, match="another system has to run another model"):
        self_preferences(everywhere)


@dataclass
class _ByThree(Played):
    """`one` rates every factor of the system `mine` a point above what the others say."""

    def ratings(self) -> tuple[Rating, ...]:
        level = float(int(self.record) % 3)
        return tuple(
            Rating(
                evaluator=judge,
                factor=factor,
                score=level + (judge == "one" and self.system == "mine"),
            )
            for judge in ("one", "two", "mean")
            for factor in Factor
        )


def _store(folder: Path) -> str:
    url = f"sqlite:///{folder / 'runs.db'}"
    settings: dict[str, JSON] = {"models": {"one": {"name": "model-1"}, "two": {"name": "model-2"}}}
    identity = evaluator_id("core", settings)
    rater = evaluator("core").model_copy(update={"id": identity, "settings": settings})
    with Store.open(url) as store:
        systems: dict[str, dict[str, object]] = {
            "mine": {"system": {"kind": "chatcrs", "model": "model-1"}},
            "theirs": {},
        }
        played = [
            _ByThree(system, str(n), settings=own, scores=())
            for n in range(6)
            for system, own in systems.items()
        ]
        fill(store, played, evaluators=(rater,))
    return url


def test_models_are_read_from_the_store(command: Command, tmp_path: Path) -> None:
    url = _store(tmp_path)
    with Store.open(url, create=False) as store:
        judged = read_judges(store, store.campaigns()[0].id)
    assert judged.judges == {"one": "model-1", "two": "model-2"}, "a mean is no judge"
    assert judged.models == {"mine": "model-1", "theirs": None}
    asked = ("analyse", "judge.self_preference", "--store", url)
    ended = command(*asked, "--json", "--out", "bias.svg")
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["tables"]["self_preference"]
    found = {row["metric"]: row for row in rows}
    assert len(found) == 13, sorted(found)
    assert found["core.naturalness"]["bias"]["value"] == pytest.approx(1)
    assert found[ALL]["bias"]["value"] == pytest.approx(0.25), "a quarter of the scale"
    assert found[ALL]["n_own"] == found[ALL]["n_others"] == 6
    assert Path("bias.svg").read_text("utf-8").startswith("<svg ")
    both = command(*asked, "--set", "system_models=theirs=model-1")
    assert both.code == 2
    assert "another system has to run another model" in both.err
    for wrong, said in (("x=model-1", "no system is called x"), ("mine", "SYSTEM=MODEL")):
        refused = command(*asked, "--set", f"system_models={wrong}")
        assert refused.code == 2
        assert said in refused.err
    shown = command(*asked, "--set", "metrics=core.naturalness")
    assert "model-1" in shown.out
    assert "against two" in shown.err
