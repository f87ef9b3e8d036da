"""Length bias: how far scores follow the number of words, and whether people's labels do, too."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.agreement.agreement import estimate_json
from recjury.agreement.label_sets import LabelSet
from recjury.agreement.metric_pairs import difference_of_correlations
from recjury.agreement.scored_run import ScoredRun, Words
from recjury.records import JSON, ScoreTarget
from recjury.stats.clustered import BootstrapEstimate
from recjury.stats.correlation import correlate
from recjury.stats.dependent import CorrelationGap
from recjury.stats.resampled import CorrelationEstimates, correlations

_FEWEST = 3  # systems, for a correlation of their means


class BetweenSystems(NamedTuple):
    """The correlation of systems' mean scores with their mean words; None for fewer than three."""

    pearson: float | None
    spearman: float | None
    systems: int


class LengthCorrelations(NamedTuple):
    """How scores correlate with the words of what they rate: all, within systems, between them."""

    estimates: CorrelationEstimates
    between: BetweenSystems

    def as_json(self) -> dict[str, JSON]:
        """The coefficients with their intervals, and n."""
        found = self.estimates
        return {
            "pearson": estimate_json(found.pearson),
            "spearman": estimate_json(found.spearman),
            "within_system": {
                "pearson": estimate_json(found.within_pearson),
                "spearman": estimate_json(found.within_spearman),
            },
            "between_systems": dict(self.between._asdict()),
            "n": found.n,
        }


class MetricLengthBias(NamedTuple):
    """An evaluator's correlations with length, and people's over the same places.

    `gap` is Pearson's r of the scores minus that of the labels, with its interval: the bias. Both
    are None without labels.
    """

    evaluator: LengthCorrelations
    people: LengthCorrelations | None
    gap: CorrelationGap | None

    def as_json(self) -> dict[str, JSON]:
        """The evaluator's correlations, people's, and the difference."""
        return {
            "evaluator": self.evaluator.as_json(),
            "people": None if self.people is None else self.people.as_json(),
            "difference": None if self.gap is None else dict(self.gap._asdict()),
        }


def length_biases(
    run: ScoredRun,
    people: LabelSet | None = None,
    pairs: Mapping[str, str] | None = None,
    *,
    resamples: int = 2_000,
    seed: int = 0,
) -> dict[str, MetricLengthBias]:
    """By metric; `pairs` gives the aspect of people's labels to hold beside it.

    The length of a turn is its words, that of a conversation the mean words of its system turns,
    separated by white space. Higher scores are better: others are turned round. With labels, both
    correlations are over places with a score and a label. Metrics of which fewer than two places
    have a score and a text are left out.
    """
    found: dict[str, MetricLengthBias] = {}
    for metric in run.scores:
        scores = run.oriented(metric)
        aspect = (pairs or {}).get(metric)
        labels = people.labels[aspect] if people is not None and aspect is not None else None
        words = _words(run, scores)
        places = [place for place in words if labels is None or place in labels]
        if len(places) < 2:
            continue
        over = _Over(run, places, [words[place] for place in places], resamples, seed)
        own = over.correlate([scores[place] for place in places])
        if labels is None:
            found[metric] = MetricLengthBias(own, None, None)
            continue
        given = [labels[place] for place in places]
        gap = difference_of_correlations(
            [scores[place] for place in places], given, over.words, over.clusters
        )
        found[metric] = MetricLengthBias(own, over.correlate(given), gap and gap.gap)
    return found


class _Over(NamedTuple):
    """The places that are compared, and their words."""

    run: ScoredRun
    places: Sequence[ScoreTarget]
    words: Sequence[float]
    resamples: int
    seed: int

    @property
    def clusters(self) -> list[str]:
        return [self.run.clusters[place.conversation] for place in self.places]

    def correlate(self, values: Sequence[float]) -> LengthCorrelations:
        systems = [self.run.systems[place.conversation] for place in self.places]
        estimates = correlations(
            values, self.words, self.clusters, systems, resamples=self.resamples, seed=self.seed
        )
        if len(set(systems)) < 2:  # then within the system is all there is
            none = BootstrapEstimate(None, None, None, 0.0)
            estimates = estimates._replace(within_pearson=none, within_spearman=none)
        return LengthCorrelations(estimates, _between(values, self.words, systems))


def _between(
    values: Sequence[float], words: Sequence[float], systems: Sequence[str]
) -> BetweenSystems:
    names = sorted(set(systems))
    if len(names) < _FEWEST:
        return BetweenSystems(None, None, len(names))
    means = [
        [fmean(v for v, s in zip(column, systems, strict=True) if s == name) for name in names]
        for column in (values, words)
    ]
    found = correlate(*means)
    return BetweenSystems(found.pearson, found.spearman, len(names))


def _words(run: ScoredRun, places: Mapping[ScoreTarget, float]) -> dict[ScoreTarget, float]:
    """The words of each place whose text is known."""
    found: dict[ScoreTarget, float] = {}
    for place in places:
        words: Words = run.words.get(place.conversation, {})
        if place.turn is not None and place.turn in words:
            found[place] = words[place.turn]
        elif place.turn is None and words:
            found[place] = fmean(words.values())
    return found
