"""Correlations of scorers with people, by set and subset, with intervals by group of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.replies.rows import RatedRow, RowSubset, averaged_subsets
from recjury.records import Estimate
from recjury.stats.clustered import cluster_bootstrap
from recjury.stats.correlation import Correlation, correlate_rows, defined
from recjury.stats.grouped import correlate_within, group_means, means_of_others

_Floats = NDArray[np.float64]

SYSTEM_MEAN = "system-mean"
"""Knows who wrote a row, and the mean rating of that system in the set, its own row included."""
SYSTEM_MEAN_OF_OTHERS = "system-mean-of-others"
"""The same without the row itself and all rows of its group."""
RESAMPLES = 1_000


class ScorerAgreement(NamedTuple):
    """A scorer's correlations on a subset. `n` rows have a score.

    `within` has the correlations of deviations from each system's mean: who wrote a row does not
    help there. It has no interval.
    """

    n: int
    pearson: Estimate
    spearman: Estimate
    within: Correlation


class Average(NamedTuple):
    """The means over several subsets; undefined if a subset's coefficient is."""

    pearson: Estimate
    spearman: Estimate


class AgreementTable(NamedTuple):
    """By subset and scorer; `rows` and `groups` count what a subset has. Averages are by name."""

    subsets: Mapping[RowSubset, Mapping[str, ScorerAgreement]]
    rows: Mapping[RowSubset, int]
    groups: Mapping[RowSubset, int]
    averages: Mapping[str, Mapping[str, Average]]


def system_means(rows: Sequence[RatedRow]) -> dict[str, list[float | None]]:
    """What knowing a row's system alone is worth, within each set: two predictors.

    The mean of others falls where a row's own rating is high, so that it ranks rows of one system
    the wrong way round; the plain mean gives them equal scores.
    """
    targets = [row.target for row in rows]
    systems = [f"{row.set}: {row.source}" for row in rows]
    # A cluster may not belong to two systems.
    clusters = [f"{row.source}: {row.group}" for row in rows]
    return {
        SYSTEM_MEAN: [float(value) for value in group_means(targets, systems)],
        SYSTEM_MEAN_OF_OTHERS: [
            defined(value) for value in means_of_others(targets, systems, clusters)
        ],
    }


def agreement_table(
    rows: Sequence[RatedRow],
    scores: Mapping[str, Sequence[float | None]],
    subsets: Sequence[RowSubset],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> AgreementTable:
    """The correlations of each scorer's scores [rows] with the ratings, in each subset.

    One bootstrap draws whole groups within each set, so that averages over sets have intervals,
    too. A row without a score is left out for its scorer alone. Raises ValueError without rows.
    """
    problem = _Problem.of(rows, scores, subsets)
    estimates = cluster_bootstrap(
        problem.statistic,
        [row.group for row in rows],
        strata=[row.set for row in rows],
        resamples=resamples,
        seed=seed,
    )
    names = list(scores)
    found = iter(zip(estimates[::2], estimates[1::2], strict=True))
    table: dict[RowSubset, dict[str, ScorerAgreement]] = {}
    for place, subset in enumerate(subsets):
        table[subset] = {
            name: ScorerAgreement(
                problem.count(place, name), *next(found), problem.within(place, name)
            )
            for name in names
        }
    averages = {
        name: {scorer: Average(*next(found)) for scorer in names} for name in problem.averages
    }
    return AgreementTable(
        table,
        {subset: int(problem.masks[place].sum()) for place, subset in enumerate(subsets)},
        {subset: problem.groups(place) for place, subset in enumerate(subsets)},
        averages,
    )


@dataclass(frozen=True)
class _Problem:
    """The arrays behind a table: `scores` [scorers, rows] with nan where there is none."""

    rows: Sequence[RatedRow]
    names: Sequence[str]
    scores: _Floats
    targets: _Floats
    masks: Sequence[NDArray[np.bool_]]
    averages: Mapping[str, Sequence[int]]

    @classmethod
    def of(
        cls,
        rows: Sequence[RatedRow],
        scores: Mapping[str, Sequence[float | None]],
        subsets: Sequence[RowSubset],
    ) -> "_Problem":
        masks = [
            np.array([subset.set == row.set and subset.holds(row) for row in rows])
            for subset in subsets
        ]
        return cls(
            rows,
            list(scores),
            np.array(
                [[np.nan if value is None else value for value in own] for own in scores.values()],
                dtype=float,
            ),
            np.array([row.target for row in rows], dtype=float),
            masks,
            {
                name: [subsets.index(subset) for subset in averaged]
                for name, averaged in averaged_subsets(subsets).items()
            },
        )

    def statistic(self, drawn: NDArray[np.int64]) -> list[float | None]:
        """Pearson's r and Spearman's rho by subset and scorer, then those of the averages."""
        by_subset = np.stack([self._correlations(drawn[mask[drawn]]) for mask in self.masks])
        averaged = [by_subset[places].mean(0) for places in self.averages.values()]
        values = np.concatenate([by_subset.reshape(-1), *(each.reshape(-1) for each in averaged)])
        return [defined(value) for value in values]

    def count(self, place: int, name: str) -> int:
        """How many rows of a subset have that scorer's score."""
        return int(self._known(place, name).sum())

    def groups(self, place: int) -> int:
        """How many groups the rows of a subset belong to."""
        mask = self.masks[place]
        return len({row.group for row, held in zip(self.rows, mask, strict=True) if held})

    def within(self, place: int, name: str) -> Correlation:
        """The correlations within systems."""
        known = np.flatnonzero(self._known(place, name))
        return correlate_within(
            self.scores[self.names.index(name)][known],
            self.targets[known],
            [self.rows[each].source for each in known.tolist()],
        )

    def _known(self, place: int, name: str) -> NDArray[np.bool_]:
        known: NDArray[np.bool_] = self.masks[place] & ~np.isnan(
            self.scores[self.names.index(name)]
        )
        return known

    def _correlations(self, drawn: NDArray[np.int64]) -> _Floats:
        """[scorers, 2] over the drawn rows; nan if undefined."""
        own, targets = self.scores[:, drawn], self.targets[drawn]
        missing = np.isnan(own)
        found = np.full((len(own), 2), np.nan)
        whole = ~missing.any(1)
        if whole.any():
            found[whole] = np.stack(correlate_rows(own[whole], targets), axis=1)
        for place in np.flatnonzero(~whole & ~missing.all(1)):
            known = ~missing[place]
            found[place] = [
                each[0] for each in correlate_rows(own[place, known][None], targets[known])
            ]
        return found
