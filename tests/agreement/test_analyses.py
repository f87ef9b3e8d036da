"""The analyses on small made-up scores, whose results are known."""

import numpy as np
import pytest

from recjury.agreement.label_sets import LabelSet
from recjury.agreement.length import length_biases
from recjury.agreement.metric_pairs import difference_of_correlations
from recjury.agreement.profiles import by_metric, by_turn, people_beside, turn_metrics
from recjury.agreement.samples import sample_curves
from recjury.agreement.score_analysis import GivenScores
from recjury.agreement.score_files import Scale
from recjury.agreement.scored_run import ScoredRun
from recjury.errors import DataError
from recjury.records import ScoreTarget
from recjury.stats.dependent import CorrelationGap


def _run(
    scores: dict[str, dict[ScoreTarget, float]],
    *,
    scales: dict[str, Scale] | None = None,
    words: dict[str, dict[int, int]] | None = None,
    scenarios: dict[str, str] | None = None,
) -> ScoredRun:
    """A run whose conversations are called `system/scenario`."""
    names = dict.fromkeys(place.conversation for own in scores.values() for place in own)
    return ScoredRun(
        scores,
        scales or {},
        {name: name.partition("/")[0] for name in names},
        {name: (scenarios or {}).get(name, name) for name in names},
        words or {},
    )


def test_systems_by_metric_are_shares_of_the_scale() -> None:
    run = _run(
        {
            "core.overall": {ScoreTarget("a/1"): 20.0, ScoreTarget("a/2"): 60.0},
            "mine.errors": {ScoreTarget("a/1"): 1.0, ScoreTarget("b/1"): 4.0},
            "mine.turns": {ScoreTarget("b/1", 1): 0.0, ScoreTarget("b/1", 3): 1.0},
            "mine.rounds": {ScoreTarget("a/1"): 7.0},
        },
        scales={
            "core.overall": Scale(0, 100),
            "mine.errors": Scale(0, 4, higher_is_better=False),
            "mine.turns": Scale(0, 1),
            "mine.rounds": Scale(0, None),
        },
    )
    found = by_metric(run)
    assert found["a"]["core.overall"].value == pytest.approx(0.4)
    assert found["a"]["mine.errors"] == (0.75, None, None, 1)
    assert found["b"]["mine.errors"].value == 0, "as many errors as there can be"
    assert found["b"]["mine.turns"] == (0.5, None, None, 1), "turns count once a conversation"
    assert "mine.rounds" not in found["a"]
    people = LabelSet("x", {"overall": {ScoreTarget("a/1"): 80.0, ScoreTarget("z/1"): 0.0},
                            "errors": {ScoreTarget("a/1"): 5.0}}, {}, {}, {}, {}, {})  # fmt: skip
    pairs = {"core.overall": "overall", "mine.errors": "errors"}
    beside = people_beside(GivenScores(run, people, pairs))
    assert by_metric(beside) == {"a": {"core.overall": (0.8, None, None, 1)}}, "5 is off the scale"


def test_repeats_of_a_scenario_are_no_further_scenarios() -> None:
    scores = {ScoreTarget(f"a/{n}"): float(n % 2) for n in range(40)}
    scales = {"m.x": Scale(0, 1)}
    apart = by_metric(_run({"m.x": scores}, scales=scales))["a"]["m.x"]
    pairs = {f"a/{n}": f"s{n // 2}" for n in range(40)}
    together = by_metric(_run({"m.x": scores}, scales=scales, scenarios=pairs))["a"]["m.x"]
    assert (apart.n, together.n) == (40, 20)
    assert together == (0.5, 0.5, 0.5, 20), "both repeats of each scenario have the mean .5"
    assert apart.low is not None
    assert apart.low < 0.5


def test_a_turn_without_scores_keeps_its_number() -> None:
    scores = {
        ScoreTarget("a/1", 1): 1.5,
        ScoreTarget("a/1", 5): 0.0,
        ScoreTarget("a/2", 0): 0.5,
        ScoreTarget("a/2", 2): 2.0,
        ScoreTarget("b/2", 1): 2.0,
    }
    words = {"a/1": {1: 9, 3: 9, 5: 9}, "a/2": {0: 9, 2: 9}, "b/2": {1: 9}}
    run = _run({"m.x": scores}, scales={"m.x": Scale(0, 2)}, words=words)
    found = by_turn(run, "m.x", fewest=1)
    assert [(mean.value, mean.n) for mean in found["a"]] == [(0.5, 2), (1.0, 1), (0.0, 1)]
    assert [mean.value for mean in found["b"]] == [1.0]
    assert len(by_turn(run, "m.x", fewest=2)["a"]) == 1
    assert turn_metrics(run) == ("m.x",)
    with pytest.raises(DataError, match="needs the conversation's text"):
        by_turn(run._replace(words={}), "m.x")
    with pytest.raises(DataError, match="no scores of turns"):
        by_turn(_run({"m.x": {ScoreTarget("a/1"): 1.0}}, words=words), "m.x")


def _drawn(seed: int, conversations: int, per_word: float) -> tuple[ScoredRun, LabelSet]:
    """Scores and labels that see one quality; scores also follow the words."""
    rng = np.random.default_rng(seed)
    scores, labels, words = {}, {}, {}
    for system, level in (("a", 0.0), ("b", 1.0), ("c", 2.0)):
        for number in range(conversations):
            name = f"{system}/{number}"
            said, quality = int(rng.integers(3, 30)), level + rng.normal()
            words[name] = {1: said, 3: said}
            scores[ScoreTarget(name)] = quality + per_word * said + rng.normal()
            labels[ScoreTarget(name)] = quality + rng.normal()
    run = _run({"m.quality": scores}, words=words)
    names = list(words)
    people = LabelSet("x", {"quality": labels}, dict.fromkeys(names, "all"), run.systems,
                      run.clusters, {}, {})  # fmt: skip
    return run, people


def test_length_that_people_do_not_follow_is_a_bias() -> None:
    run, people = _drawn(1, 100, 0.15)
    labels = {"m.quality": people.labels["quality"]}
    found = length_biases(run, labels, resamples=300)["m.quality"]
    assert found.people is not None
    assert found.gap is not None
    own, theirs = found.evaluator.estimates, found.people.estimates
    assert own.pearson.low is not None
    assert own.pearson.low > 0.3
    assert abs(theirs.pearson.value or 0) < 0.15
    assert own.within_pearson.value is not None
    assert own.within_pearson.value > (own.pearson.value or 0), "systems differ, lengths do not"
    assert found.gap.low > 0.2
    assert found.evaluator.between.n == 3
    alone = length_biases(run, {}, resamples=100)["m.quality"]
    assert alone.people is None
    assert alone.evaluator.estimates.pearson.value == own.pearson.value


def test_the_length_of_a_turn_is_its_own() -> None:
    scores = {ScoreTarget("a/1", 1): 5.0, ScoreTarget("a/1", 3): 9.0, ScoreTarget("a/2", 1): 7.0}
    words = {"a/1": {1: 5, 3: 9}, "a/2": {1: 7}}
    run = _run({"m.x": scores}, words=words)
    found = length_biases(run, {}, resamples=100)["m.x"].evaluator
    assert found.estimates.pearson.value == pytest.approx(1)
    assert found.estimates.within_pearson.value is None, "there is one system"
    assert found.between == (None, None, 1)
    turned = run._replace(scales={"m.x": Scale(0, 9, higher_is_better=False)})
    assert length_biases(turned, {}, resamples=100)["m.x"].evaluator.estimates.pearson.value == (
        pytest.approx(-1)
    )
    assert length_biases(run._replace(words={}), {}, resamples=100) == {}


def test_the_interval_of_a_length_bias_covers() -> None:
    pairs = {"m.quality": "quality"}
    truth = np.mean([_gap(seed, 3_000, pairs)[0] for seed in range(5)])
    covered = [low <= truth <= high for _, low, high in (_gap(s, 40, pairs) for s in range(200))]
    assert 0.9 <= np.mean(covered) <= 0.99


def _gap(seed: int, conversations: int, pairs: dict[str, str]) -> CorrelationGap:
    run, people = _drawn(1_000 + seed + conversations, conversations, 0.1)
    gap = difference_of_correlations(
        list(run.scores["m.quality"].values()),
        list(people.labels[pairs["m.quality"]].values()),
        [float(run.words[place.conversation][1]) for place in run.scores["m.quality"]],
        list(run.systems),
    )
    assert gap is not None
    return gap.gap


def test_few_conversations_rank_systems_less_well() -> None:
    run, people = _drawn(3, 30, 0.0)
    own = sample_curves(run, {}, sizes=(1, 5, 30, 31), draws=200)["m.quality"]
    assert [each.size for each in own.sizes] == [1, 5, 30], "no system has 31"
    assert own.sizes[-1].evaluator[:3] == pytest.approx((1, 1, 1)), "that is all of them"
    one, five = (each.evaluator.value or 0 for each in own.sizes[:2])
    assert one < five < 1
    labels = {"m.quality": people.labels["quality"]}
    beside = sample_curves(run, labels, sizes=(3, 30), draws=200)["m.quality"]
    assert beside.by_people
    assert beside.sizes[1].people[:3] == pytest.approx((1, 1, 1))
    less = run._replace(scales={"m.quality": Scale(0, None, higher_is_better=False)})
    worse = sample_curves(less, labels, sizes=(30,), draws=20)["m.quality"]
    assert worse.sizes[0].evaluator.value == pytest.approx(-1), "less was better"
    two = {place: s for place, s in run.scores["m.quality"].items() if place.conversation[0] < "c"}
    with pytest.raises(DataError, match="2 systems have scores, and a rank correlation needs 3"):
        sample_curves(run._replace(scores={"m.quality": two}), {})
    both = run._replace(
        scores={"m.rare": two, **run.scores}, scales={**run.scales, "m.rare": Scale(0, None)}
    )
    assert list(sample_curves(both, {}, sizes=(3,), draws=20)) == ["m.quality"]
