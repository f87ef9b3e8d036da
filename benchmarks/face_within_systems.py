"""The parts of an annotation correlation: between systems, and between turns of one system.

Systems differ so much that knowing which system speaks is enough to predict labels well. It does
not help to compare turns of one system.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.records import Estimate
from recjury.stats.clustered import cluster_bootstrap
from recjury.stats.correlation import correlate, correlate_rows, defined
from recjury.stats.grouped import correlate_within, group_means, means_of_others
from recjury.stats.score_table import ScoreTable


class Both(NamedTuple):
    """Pearson's and Spearman's coefficients, each with its interval."""

    pearson: Estimate
    spearman: Estimate


class WithinSystems(NamedTuple):
    """An evaluator's correlations: overall, within systems, and from the system alone.

    `own_mean` has each score replaced by the mean of its system's scores; `gain` is `overall`
    minus that. `system_mean` predicts each place by the mean label of the same system's other
    conversations. Within a system this prediction falls as the own label rises. Its Pearson
    correlation is therefore slightly too low; its Spearman correlation is much too low, because
    ranks count the smallest gap like any other. Intervals are over conversations, which are
    resampled within each system.
    """

    overall: Both
    within: Both
    system_mean: Both
    own_mean: Both
    gain: Both
    n: int


def within_systems(table: ScoreTable, *, resamples: int = 1_000, seed: int = 0) -> WithinSystems:
    """Split an annotation correlation; raises ValueError if there are no pairs."""

    # Grouping by numbers is faster than by names, and every resample groups again.
    systems = np.unique(table.system, return_inverse=True)[1]
    conversations = np.unique(table.cluster, return_inverse=True)[1]

    def statistic(places: NDArray[np.int64]) -> Sequence[float | None]:
        scores, labels, groups = table.score[places], table.label[places], systems[places]
        known = means_of_others(labels, groups, conversations[places])
        there = ~np.isnan(known)
        found = correlate_rows(np.stack([scores, group_means(scores, groups)]), labels)
        r, rho = ([defined(value) for value in each] for each in found)
        within = correlate_within(scores, labels, groups)[:2]
        others = correlate(known[there], labels[there])[:2]
        gain = [None if a is None or b is None else a - b for a, b in (r, rho)]
        return (r[0], rho[0], *within, *others, r[1], rho[1], *gain)

    found = cluster_bootstrap(
        statistic,
        table.cluster.tolist(),
        strata=table.system.tolist(),
        resamples=resamples,
        seed=seed,
    )
    parts = (Both(*found[start : start + 2]) for start in range(0, len(found), 2))
    overall, inside, others, mean, gain = parts
    return WithinSystems(overall, inside, others, mean, gain, len(table.score))
