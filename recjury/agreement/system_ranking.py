"""Rankings of systems by an evaluator and by people (FACE, table 2 and figure 4)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.pairs import Pairs
from recjury.corpora.crsarena import system_of
from recjury.records import ScoreTarget
from recjury.stats.clustered import BootstrapEstimate, cluster_bootstrap
from recjury.stats.correlation import correlate, correlate_rows


class RankingCorrelation(NamedTuple):
    """The correlation of systems' mean scores with their mean labels, with intervals.

    Intervals are over conversations, which are resampled within each system; the set of systems
    is fixed.
    """

    pearson: BootstrapEstimate
    spearman: BootstrapEstimate
    systems: int


class Sampled(NamedTuple):
    """How good rankings from `size` conversations per system are, over many draws.

    `evaluator` and `people` are Spearman's correlations with the ranking by all labels: for the
    evaluator's scores and for the labels of the drawn conversations. Each is the mean and the
    quantiles that contain 95 % of the draws.
    """

    size: int
    evaluator: tuple[float, float, float]
    people: tuple[float, float, float]


def system_means(values: Mapping[ScoreTarget, float]) -> dict[str, float]:
    """Each system's mean over all its places, by name in alphabetical order."""
    grouped: dict[str, list[float]] = {}
    for place, value in values.items():
        grouped.setdefault(system_of(place.conversation), []).append(value)
    return {system: sum(grouped[system]) / len(grouped[system]) for system in sorted(grouped)}


def ranking_correlation(
    pairs: Pairs, *, resamples: int = 1_000, seed: int = 0
) -> RankingCorrelation:
    """Correlate the systems' mean scores and mean labels; raises ValueError for no pairs."""

    names, systems = np.unique(pairs.systems, return_inverse=True)

    def statistic(places: NDArray[np.int64]) -> Sequence[float | None]:
        drawn = systems[places]
        counts = np.bincount(
            drawn
        )  # each resample has all systems, because the systems are the strata
        scores = np.bincount(drawn, weights=pairs.scores[places]) / counts
        labels = np.bincount(drawn, weights=pairs.labels[places]) / counts
        return correlate(scores, labels)[:2]

    pearson, rho = cluster_bootstrap(
        statistic,
        pairs.conversations.tolist(),
        strata=pairs.systems.tolist(),
        resamples=resamples,
        seed=seed,
    )
    return RankingCorrelation(pearson, rho, systems=len(names))


def sample_efficiency(
    pairs: Pairs, sizes: Sequence[int], *, draws: int = 1_000, seed: int = 0
) -> tuple[Sampled, ...]:
    """How good rankings from few conversations are; one row of `pairs` is one conversation.

    Sizes beyond the smallest system's number of conversations are left out.
    """
    rng = np.random.default_rng(seed)
    systems = sorted(set(pairs.systems.tolist()))
    own = [np.flatnonzero(pairs.systems == system) for system in systems]
    gold = np.array([pairs.labels[places].mean() for places in own])
    found: list[Sampled] = []
    for size in sizes:
        if size > min(len(places) for places in own):
            break
        rows = np.array(
            [[rng.choice(places, size, replace=False) for places in own] for _ in range(draws)]
        )
        found.append(
            Sampled(
                size,
                _rho(pairs.scores, rows, gold),
                _rho(pairs.labels, rows, gold),
            )
        )
    return tuple(found)


def _rho(
    values: NDArray[np.float64], drawn: NDArray[np.int64], gold: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Mean and 95 % range over `drawn` [draws, systems, size]."""
    means = values[drawn].mean(axis=-1).round(9)
    # Equal means give no order: their correlation counts as 0.
    found = np.nan_to_num(correlate_rows(means, gold).spearman)
    low, high = np.quantile(found, [0.025, 0.975])
    return float(found.mean()), float(low), float(high)
