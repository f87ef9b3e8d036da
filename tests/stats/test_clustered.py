"""Bootstrap by cluster: clusters stay together, strata keep their sizes, intervals are wider."""

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from recjury.records import Estimate
from recjury.stats.clustered import cluster_bootstrap
from recjury.stats.resampling import interval_of_mean

Places = NDArray[np.int64]


def test_clusters_are_drawn_whole_and_strata_keep_their_size() -> None:
    clusters = ["a", "a", "b", "c", "c", "c"]
    strata = ["x", "x", "x", "y", "y", "y"]
    seen: list[Counter[str]] = []

    def look(places: Places) -> list[float]:
        drawn = Counter(clusters[place] for place in places)
        assert drawn["a"] % 2 == 0
        assert drawn["a"] // 2 + drawn["b"] == 2
        assert drawn["c"] == 3
        seen.append(drawn)
        return [0.0]

    cluster_bootstrap(look, clusters, strata=strata, resamples=50)
    assert len({tuple(sorted(drawn.items())) for drawn in seen}) == 3


def test_single_places_give_the_usual_interval() -> None:
    values = np.random.default_rng(0).normal(size=80)
    (found,) = cluster_bootstrap(
        lambda places: [float(values[places].mean())],
        [str(n) for n in range(80)],
        resamples=4_000,
    )
    usual = interval_of_mean(values.tolist())
    assert usual is not None
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx(usual, abs=0.02)


def test_repeated_values_in_a_cluster_make_it_wider() -> None:
    rng = np.random.default_rng(3)
    values = np.repeat(rng.normal(size=30), 5)
    alone = cluster_bootstrap(lambda p: [values[p].mean()], [str(n) for n in range(150)])[0]
    together = cluster_bootstrap(lambda p: [values[p].mean()], [str(n // 5) for n in range(150)])[0]
    assert alone.low is not None and alone.high is not None  # noqa: PT018
    assert together.low is not None and together.high is not None  # noqa: PT018
    assert together.high - together.low > 1.8 * (alone.high - alone.low)


def test_what_is_seldom_defined_has_no_interval() -> None:
    seldom, always = cluster_bootstrap(lambda p: [None, 1.0], ["a", "b"], resamples=20)
    assert seldom == Estimate(None)
    assert always == Estimate(1.0, 1.0, 1.0)


def test_it_is_seeded_and_needs_something() -> None:
    def mean(places: Places) -> list[float]:
        return [float(places.mean())]

    clusters = [str(n) for n in range(9)]
    assert cluster_bootstrap(mean, clusters, seed=1) == cluster_bootstrap(mean, clusters, seed=1)
    assert cluster_bootstrap(mean, clusters, seed=1) != cluster_bootstrap(mean, clusters, seed=2)
    with pytest.raises(ValueError, match="nothing to resample"):
        cluster_bootstrap(mean, [])
