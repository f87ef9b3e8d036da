"""Whether an evaluator puts systems in the order in which people do."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.label_sets import LabelSet
from recjury.corpora.crsarena import system_of
from recjury.corpora.crsarena_votes import Vote
from recjury.errors import DataError
from recjury.records import JSON, ScoreTarget
from recjury.stats.clustered import BootstrapEstimate, cluster_bootstrap
from recjury.stats.correlation import correlate
from recjury.stats.ranking import Match, Standing, standings, strengths

FEWEST = 3
"""Fewer systems have no rank correlation worth the name."""

_Floats = NDArray[np.float64]


class SystemAgreement(NamedTuple):
    """Correlations of the systems' mean scores with what people think of them.

    Intervals are over conversations, or over the people who voted; the systems are fixed. With few
    systems they are wide, and their ends are often the same few values. Pearson's r has none: noise
    in the means lowers it again in every resample, so that the bootstrap covers in 78 to 87 % only.
    """

    pearson: BootstrapEstimate
    spearman: BootstrapEstimate
    kendall: BootstrapEstimate
    systems: int

    def as_json(self) -> dict[str, JSON]:
        """Three coefficients with their intervals, and the number of systems."""
        own: dict[str, JSON] = {
            name: {"value": each.value, "low": each.low, "high": each.high}
            for name, each in zip(self._fields[:3], self[:3], strict=True)
        }
        return {**own, "systems": self.systems}


def system_agreement(
    scores: Mapping[ScoreTarget, float],
    people: LabelSet,
    aspect: str,
    subset: str,
    *,
    resamples: int = 1_000,
    seed: int = 0,
) -> SystemAgreement | None:
    """The mean scores of systems and their mean labels, over places that have both.

    None if there are fewer than three systems. Conversations are drawn within each system, unless
    one cluster has conversations of several systems.
    """
    labels = people.labels[aspect]
    places = [p for p in labels if p in scores and people.subsets[p.conversation] == subset]
    names = [people.systems[place.conversation] for place in places]
    clusters = [people.clusters[place.conversation] for place in places]
    if len(set(names)) < FEWEST:
        return None
    x = np.array([scores[place] for place in places])
    y = np.array([labels[place] for place in places])
    known, system = np.unique(np.array(names), return_inverse=True)

    def statistic(drawn: NDArray[np.int64]) -> Sequence[float | None]:
        return _three(
            _means(x[drawn], system[drawn], len(known)), _means(y[drawn], system[drawn], len(known))
        )

    apart = len(set(zip(clusters, names, strict=True))) == len(set(clusters))
    found = cluster_bootstrap(
        statistic, clusters, strata=names if apart else None, resamples=resamples, seed=seed
    )
    return _of(found, len(known))


class VoteAgreement(NamedTuple):
    """The ranking by votes, and how far each metric agrees with it."""

    standings: tuple[Standing, ...]
    metrics: Mapping[str, SystemAgreement]

    def as_json(self) -> dict[str, JSON]:
        """The ranking and the metrics."""
        return {
            "ranking": [dict(each._asdict()) for each in self.standings],
            "metrics": {name: each.as_json() for name, each in self.metrics.items()},
        }


def vote_agreement(
    predictions: Mapping[str, Mapping[ScoreTarget, float]],
    votes: Sequence[Vote],
    *,
    resamples: int = 500,
    seed: int = 0,
) -> VoteAgreement:
    """Each metric's mean scores of systems against Bradley-Terry strengths.

    A person's votes and conversations are drawn together: they are of the same conversations.
    Conversations need ids like kbrd_redial_USER. Raises DataError for others, and if fewer than
    three systems have both votes and scores.
    """
    voted = sorted({name for vote in votes for name in (vote.one, vote.other)})
    matches = [Match(vote.one, vote.other, vote.score, vote.user) for vote in votes]
    ranking = standings(voted, matches, resamples=resamples, seed=seed)
    metrics: dict[str, SystemAgreement] = {}
    for name, scores in predictions.items():
        means = _by_conversation(scores)
        systems = sorted({system_of(each) for each in means} & set(voted))
        if len(systems) < FEWEST:
            raise DataError(
                f"{len(systems)} systems have votes and scores of {name}: a rank correlation "
                f"needs {FEWEST}"
            )
        metrics[name] = _against_votes(means, matches, systems, resamples, seed)
    return VoteAgreement(ranking, metrics)


def _by_conversation(scores: Mapping[ScoreTarget, float]) -> dict[str, float]:
    given: dict[str, list[float]] = {}
    for place, score in scores.items():
        given.setdefault(place.conversation, []).append(score)
    return {name: sum(values) / len(values) for name, values in given.items()}


def _against_votes(
    means: Mapping[str, float],
    matches: Sequence[Match],
    systems: Sequence[str],
    resamples: int,
    seed: int,
) -> SystemAgreement:
    place = {name: number for number, name in enumerate(systems)}
    kept = [each for each in means if system_of(each) in place]
    own = [each for each in matches if each.one in place and each.other in place]
    # One list of both: rows below `len(kept)` are conversations, the others votes.
    people = [*(each.split("_", 2)[2] for each in kept), *(each.block for each in own)]
    x = np.array([means[each] for each in kept])
    system = np.array([place[system_of(each)] for each in kept])

    def statistic(drawn: NDArray[np.int64]) -> Sequence[float | None]:
        said = drawn[drawn < len(kept)]
        voted = [own[number - len(kept)] for number in drawn[drawn >= len(kept)]]
        return _three(
            _means(x[said], system[said], len(systems)), np.array(strengths(systems, voted))
        )

    found = cluster_bootstrap(statistic, people, resamples=resamples, seed=seed)
    return _of(found, len(systems))


def _of(found: Sequence[BootstrapEstimate], systems: int) -> SystemAgreement:
    pearson, spearman, kendall = found
    return SystemAgreement(pearson._replace(low=None, high=None), spearman, kendall, systems)


def _means(values: _Floats, system: NDArray[np.intp], systems: int) -> _Floats:
    """The mean of each system; nan for one that was not drawn."""
    counts = np.bincount(system, minlength=systems)
    sums = np.bincount(system, weights=values, minlength=systems)
    means: _Floats = np.divide(sums, counts, out=np.full(systems, np.nan), where=counts > 0)
    return np.round(means, 9)  # equal means may differ in their last bits


def _three(x: _Floats, y: _Floats) -> list[float | None]:
    from scipy.stats import kendalltau

    both = ~(np.isnan(x) | np.isnan(y))
    if both.sum() < FEWEST:
        return [None, None, None]
    found = correlate(x[both], y[both])
    if found.spearman is None:
        return [None, None, None]
    return [found.pearson, found.spearman, float(kendalltau(x[both], y[both]).statistic)]
