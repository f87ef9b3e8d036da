"""Bootstrap by cluster: either all turns of a dialogue are drawn, or none.

SciPy's `bootstrap` draws single observations and cannot resample clusters.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from recjury.records import Estimate

Statistic = Callable[[NDArray[np.int64]], Sequence[float | None]]
"""A function of the indices of a resample, with repetitions, that returns one or more values."""


def cluster_bootstrap(
    statistic: Statistic,
    clusters: Sequence[str],
    *,
    strata: Sequence[str] | None = None,
    resamples: int = 1_000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """An estimate of each value of `statistic` over the indices 0 to n - 1.

    `clusters` [n] has the cluster of each index. As many clusters as there are are drawn with
    replacement; with `strata` [n], within each stratum. All indices of a cluster belong to one
    stratum. Raises ValueError if `clusters` is empty.
    """
    if not clusters:
        raise ValueError("nothing to resample")
    members = _members(clusters)
    pools = _pools(clusters, strata)
    rng = np.random.default_rng(seed)
    values = statistic(np.arange(len(clusters)))
    drawn = np.array(
        [
            [np.nan if value is None else value for value in statistic(_draw(members, pools, rng))]
            for _ in range(resamples)
        ],
        dtype=float,
    )
    return tuple(estimate(value, drawn[:, place]) for place, value in enumerate(values))


def cluster_means(
    values: NDArray[np.float64], clusters: Sequence[str], *, resamples: int = 2_000, seed: int = 0
) -> tuple[Estimate, ...]:
    """The mean of each column of `values` [n, m]; whole clusters [n] are drawn, as above.

    Raises ValueError if `clusters` is empty.
    """
    if not len(clusters):
        raise ValueError("nothing to resample")
    names, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    count = len(names)
    draws = np.random.default_rng(seed).multinomial(count, [1 / count] * count, resamples)
    sizes = draws @ np.bincount(cluster)
    columns = np.asarray(values, dtype=float).T
    drawn = [draws @ np.bincount(cluster, weights=column) / sizes for column in columns]
    return tuple(
        estimate(float(column.mean()), means) for column, means in zip(columns, drawn, strict=True)
    )


def _members(clusters: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    found: dict[str, list[int]] = {}
    for place, cluster in enumerate(clusters):
        found.setdefault(cluster, []).append(place)
    return {cluster: np.array(places) for cluster, places in found.items()}


def _pools(clusters: Sequence[str], strata: Sequence[str] | None) -> list[list[str]]:
    if strata is None:
        return [list(dict.fromkeys(clusters))]
    pools: dict[str, dict[str, None]] = {}
    for cluster, stratum in zip(clusters, strata, strict=True):
        pools.setdefault(stratum, {})[cluster] = None
    return [list(pool) for pool in pools.values()]


def _draw(
    members: dict[str, NDArray[np.int64]], pools: list[list[str]], rng: np.random.Generator
) -> NDArray[np.int64]:
    return np.concatenate(
        [members[pool[k]] for pool in pools for k in rng.integers(0, len(pool), len(pool))]
    )


def estimate(value: float | None, drawn: NDArray[np.float64]) -> Estimate:
    """The value with the percentile interval of the resamples' values [resamples].

    They are nan where undefined; without an interval if that is more than half of them.
    """
    known = drawn[~np.isnan(drawn)]
    if not known.size or 2 * known.size < drawn.size:
        return Estimate(value)
    low, high = np.quantile(known, [0.025, 0.975])
    return Estimate(value, float(low), float(high))
