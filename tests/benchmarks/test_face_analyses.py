"""What FACE's released scores say beyond the paper."""

from pathlib import Path

import pytest

from benchmarks import face_analyses
from benchmarks.face_analyses import OVERALL, Given, pairs
from benchmarks.face_effort import by_instructions, by_particles, columns, pooled_noise
from benchmarks.face_within_systems import within_systems
from recjury.records import (
    Aspect,
)
from recjury.stats.correlation import correlate


@pytest.fixture(scope="module")
def given(data_folder: Path) -> Given:
    return face_analyses.read(data_folder / "crsarena-eval")


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
