"""The paper's analyses on its released scores, and what it does not show."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import face_analyses
from benchmarks.face_analyses import OVERALL, Given, pairs
from benchmarks.face_effort import by_instructions, by_particles, columns, pooled_noise
from benchmarks.face_length import length_bias
from benchmarks.face_within_systems import within_systems
from recjury.agreement.samples import sample_qualities
from recjury.records import (
    Aspect,
    ConversationLog,
    Ending,
    Scenario,
    ScoreTarget,
    Speaker,
    Turn,
)
from recjury.stats.correlation import correlate


@pytest.fixture(scope="module")
def given(data_folder: Path) -> Given:
    return face_analyses.read(data_folder / "crsarena-eval")


def test_rankings_are_the_published_ones(given: Given) -> None:
    means = face_analyses.rankings(given, 10)["all"]["means"]
    published = {"turn": (0.930, 0.842), "dialogue": (0.913, 0.837), "all": (0.918, 0.838)}
    for level, expected in published.items():
        assert means[level] == pytest.approx(expected, abs=0.009)


def test_length_and_scores_of_systems_go_together(given: Given) -> None:
    found = face_analyses.length(given)
    assert found["evaluator"]["pearson"] == pytest.approx(0.824, abs=0.005)
    assert found["people"]["pearson"] == pytest.approx(0.868, abs=0.005)
    assert len(found["words"]) == 9


def test_three_dialogues_a_system_rank_them_with_eight_tenths(given: Given) -> None:
    few, most = sample_qualities(pairs(given, OVERALL), (3, 42, 43), draws=200)
    assert few.evaluator.low is not None
    assert few.evaluator.high is not None
    assert most.people.value is not None
    assert few.evaluator[0] == pytest.approx(0.8, abs=0.03)
    assert few.people[0] == pytest.approx(0.8, abs=0.03)
    assert few.evaluator.low < 0.65 < 0.9 < few.evaluator.high
    assert most.size == 42, "the smallest system has 42 conversations"
    assert most.people.value > 0.98


def test_knowing_the_system_is_most_of_it_where_systems_differ(given: Given) -> None:
    found = {
        subset: within_systems(pairs(given, OVERALL, subset), resamples=100)
        for subset in ("redial", "opendialkg")
    }
    assert found["redial"].system_mean.pearson.value == pytest.approx(0.51, abs=0.005)
    assert found["opendialkg"].system_mean.pearson.value == pytest.approx(0.68, abs=0.005)
    for one in found.values():
        assert one.within.pearson.value is not None
        assert one.overall.pearson.value is not None
        assert one.within.pearson.value < one.overall.pearson.value - 0.1
        assert one.within.pearson.low is not None
        assert one.within.pearson.low > 0.4


def test_all_instructions_and_particles_are_the_pooled_score(given: Given) -> None:
    labels = face_analyses._labels(given, OVERALL, "redial")
    some = columns(given.runs[OVERALL].turns, labels, OVERALL.level)
    assert len(some.scores) == 267
    table = pairs(given, OVERALL, "redial")
    whole = correlate(table.score, table.label)
    one, sixteen = by_instructions(some, (1, 16, 17), draws=50)
    assert sixteen.pearson[0] == pytest.approx(whole.pearson)
    assert sixteen.spearman[0] == pytest.approx(whole.spearman, abs=0.002)
    assert one.pearson[0] < sixteen.pearson[0]
    few, all_of_them = by_particles(some, (1, 1_000), draws=5)
    assert all_of_them.pearson[0] == pytest.approx(whole.pearson)
    assert few.pearson[0] < 0.8 * all_of_them.pearson[0]


def test_sampling_is_a_quarter_of_a_score_and_nothing_of_the_pooled(given: Given) -> None:
    aspect = Aspect.EFFICIENCY
    labels = face_analyses._labels(given, aspect, "redial")
    noise = pooled_noise(columns(given.runs[aspect].turns, labels, aspect.level), aspect)
    share = noise.single.share(noise.single.modelled)
    assert share is not None
    assert 0.15 < share < 0.35
    assert noise.pooled_share < 0.02
    assert noise.one_sample < noise.pearson < noise.without_noise < noise.one_sample + 0.02


def test_contrasts_reach_down_to_turns(given: Given) -> None:
    found = face_analyses.contrasts(given)
    assert set(found) == {"barcor", "unicrs"}
    barcor, unicrs = (found[system]["understanding_by_turn"] for system in ("barcor", "unicrs"))
    assert barcor[0]["value"] > unicrs[0]["value"]
    assert all(0 <= mean["value"] <= 1 for mean in (*barcor, *unicrs))
    assert np.diff([mean["n"] for mean in barcor]).max() <= 0


def test_length_bias_is_beside_that_of_people() -> None:
    logs, scores, labels = {}, {}, {}
    for length, system in enumerate(("kbrd_redial", "barcor_redial", "unicrs_opendialkg"), start=1):
        name = f"{system}_x"
        turns = [(Speaker.USER, "hello"), (Speaker.SYSTEM, "word " * length)]
        logs[name] = ConversationLog(
            system=system,
            scenario=Scenario(corpus="c", record=name),
            interaction=tuple(Turn(speaker=who, text=text) for who, text in turns),
            ending=Ending.RECORDED,
        )
        scores[ScoreTarget(name)] = float(length)
        labels[ScoreTarget(name)] = 3 - length
    found = length_bias(logs, scores, labels)
    assert found.words["kbrd_redial"] == 2
    assert found.evaluator.pearson == pytest.approx(1)
    assert found.people.pearson == pytest.approx(-1)
