"""How much of an annotation correlation is telling systems apart, and how much telling turns apart.

Systems differ so much that whoever knows which system speaks already predicts labels well. Inside a
system that is of no use.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.alignment.pairs import Pairs
from recjury.stats.clustered import BootstrapEstimate, cluster_bootstrap
from recjury.stats.correlation import correlate
from recjury.stats.grouped import correlate_within, group_means, means_of_others


class Both(NamedTuple):
    """Pearson's and Spearman's coefficients, each with its interval."""

    pearson: BootstrapEstimate
    spearman: BootstrapEstimate


class WithinSystems(NamedTuple):
    """An evaluator's correlations, what is left inside systems, and what knows systems alone.

    `own_mean` has each score replaced by the mean of its system's scores; `gain` is `overall`
    minus that. `system_mean` predicts each place by the mean label of the same system's other
    conversations: inside a system that falls as the own label rises, so that it is a little too
    low, and by ranks, which count the smallest gap like any other, much too low. Intervals are
    over conversations, drawn within systems.
    """

    overall: Both
    within: Both
    system_mean: Both
    own_mean: Both
    gain: Both
    n: int


def within_systems(pairs: Pairs, *, resamples: int = 1_000, seed: int = 0) -> WithinSystems:
    """Split an annotation correlation; raises ValueError for no pairs."""

    def statistic(places: NDArray[np.int64]) -> Sequence[float | None]:
        drawn = pairs.at(places)
        systems = drawn.systems.tolist()
        known = means_of_others(drawn.labels, systems, drawn.conversations.tolist())
        there = ~np.isnan(known)
        overall = correlate(drawn.scores, drawn.labels)[:2]
        within = correlate_within(drawn.scores, drawn.labels, systems)[:2]
        others = correlate(known[there], drawn.labels[there])[:2]
        mean = correlate(group_means(drawn.scores, systems), drawn.labels)[:2]
        gain = [
            None if a is None or b is None else a - b for a, b in zip(overall, mean, strict=True)
        ]
        return (*overall, *within, *others, *mean, *gain)

    found = cluster_bootstrap(
        statistic,
        pairs.conversations.tolist(),
        strata=pairs.systems.tolist(),
        resamples=resamples,
        seed=seed,
    )
    parts = (Both(*found[start : start + 2]) for start in range(0, len(found), 2))
    overall, inside, others, mean, gain = parts
    return WithinSystems(overall, inside, others, mean, gain, len(pairs.scores))
