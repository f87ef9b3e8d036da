"""Whether an evaluator puts systems in the order in which people do."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.label_sets import LabelSet
from recjury.agreement.score_files import Scores
from recjury.agreement.scored_run import by_conversation, score_table
from recjury.corpora.crsarena import system_of, user_of
from recjury.corpora.crsarena_votes import Vote
from recjury.errors import DataError
from recjury.records import JSON, Estimate, ScoreTarget
from recjury.stats.clustered import cluster_bootstrap
from recjury.stats.ranking import Match, Standing, standings, strengths
from recjury.stats.score_table import (
    FEWEST_SYSTEMS,
    means_by_system,
    three_coefficients,
)
from recjury.tables import Cell, Column, Table, table_of

_STANDINGS = (
    Column("system"),
    Column("strength"),
    Column("low", "95 % low"),
    Column("high"),
    Column("matches", "votes"),
)


class SystemAgreement(NamedTuple):
    """Correlations of the systems' mean scores with what people think of them.

    Intervals are over conversations, or over the people who voted; the systems are fixed. With few
    of them intervals are wide, and their ends are often the same few values. Pearson's r has none:
    noise in the means lowers it again in every resample, and its bootstrap covers in 78 to 87 %
    only.
    """

    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    systems: int

    def as_json(self) -> dict[str, JSON]:
        """Three coefficients with their intervals, and the number of systems."""
        own = {name: each.as_json() for name, each in zip(self._fields, self[:3], strict=False)}
        return {**own, "systems": self.systems}

    @staticmethod
    def columns() -> tuple[Column, ...]:
        """The columns of `cells`."""
        shown = {"pearson": "r of means", "spearman": "rho", "kendall": "tau"}
        return (Column("systems"), *(Column(key, heading, 3) for key, heading in shown.items()))

    def cells(self) -> dict[str, Cell]:
        """The cells of `columns`."""
        return self._asdict()


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

    None if there are fewer than three systems. Rows are drawn by cluster within each system, unless
    a cluster has rows of several systems.
    """
    labels = people.labels_of(aspect, subset)
    table = score_table(aspect, scores, labels, people.systems, people.clusters)
    names, system = np.unique(table.system, return_inverse=True)
    many = len(names)
    if many < FEWEST_SYSTEMS:
        return None

    def statistic(drawn: NDArray[np.int64]) -> Sequence[float | None]:
        own = system[drawn]
        return three_coefficients(
            means_by_system(table.score[drawn], own, many),
            means_by_system(table.label[drawn], own, many),
        )

    clusters, systems = table.cluster.tolist(), table.system.tolist()
    apart = len(set(zip(clusters, systems, strict=True))) == len(set(clusters))
    strata = systems if apart else None
    found = cluster_bootstrap(statistic, clusters, strata=strata, resamples=resamples, seed=seed)
    return _agreement(found, many)


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

    def tables(self) -> tuple[Table, Table]:
        """The ranking by votes, and a row for each metric."""
        rows: list[dict[str, Cell]] = [
            {"metric": name, **own.cells()} for name, own in self.metrics.items()
        ]
        return (
            table_of("ranking", _STANDINGS, [each._asdict() for each in self.standings]),
            table_of("votes", (Column("metric"), *SystemAgreement.columns()), rows),
        )


def vote_agreement(
    scores: Scores, votes: Sequence[Vote], *, resamples: int = 500, seed: int = 0
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
    for name, own in scores.items():
        means = {place.conversation: score for place, score in by_conversation(own).items()}
        systems = sorted({system_of(conversation) for conversation in means} & set(voted))
        if len(systems) < FEWEST_SYSTEMS:
            raise DataError(
                f"{len(systems)} systems have votes and scores of {name}: a rank correlation "
                f"needs {FEWEST_SYSTEMS}"
            )
        metrics[name] = _against_votes(means, matches, systems, resamples, seed)
    return VoteAgreement(ranking, metrics)


def _against_votes(
    means: Mapping[str, float],
    matches: Sequence[Match],
    systems: Sequence[str],
    resamples: int,
    seed: int,
) -> SystemAgreement:
    number = {name: place for place, name in enumerate(systems)}
    scored = [name for name in means if system_of(name) in number]
    voted = [match for match in matches if match.one in number and match.other in number]
    # One list of both: rows below `len(scored)` are conversations, the others votes.
    people = [*map(user_of, scored), *(match.block for match in voted)]
    score = np.array([means[name] for name in scored])
    system = np.array([number[system_of(name)] for name in scored])

    def statistic(drawn: NDArray[np.int64]) -> Sequence[float | None]:
        rows = drawn[drawn < len(scored)]
        votes = [voted[place - len(scored)] for place in drawn[drawn >= len(scored)]]
        return three_coefficients(
            means_by_system(score[rows], system[rows], len(systems)),
            np.array(strengths(systems, votes)),
        )

    found = cluster_bootstrap(statistic, people, resamples=resamples, seed=seed)
    return _agreement(found, len(systems))


def _agreement(found: tuple[Estimate, ...], systems: int) -> SystemAgreement:
    pearson, spearman, kendall = found
    return SystemAgreement(Estimate(pearson.value), spearman, kendall, systems)
