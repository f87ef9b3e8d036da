"""Systems compared by an evaluator's scores: by metric and by turn (FACE, section 5.3)."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import NamedTuple

from recjury.agreement.label_sets import LabelSet
from recjury.agreement.scored_run import Scale, ScoredRun, by_conversation
from recjury.errors import DataError
from recjury.records import JSON, ScoreTarget
from recjury.stats.resampling import interval_of_mean

FEWEST = 5
"""A turn of which fewer conversations have a score is not shown."""


class Mean(NamedTuple):
    """A mean with its 95 % interval over scenarios; bounds are None for fewer than two.

    Conversations of one scenario count by their mean. `n` counts scenarios.
    """

    value: float
    low: float | None
    high: float | None
    n: int

    def as_json(self) -> dict[str, JSON]:
        """All four numbers."""
        return dict(self._asdict())


def by_metric(run: ScoredRun) -> dict[str, dict[str, Mean]]:
    """By system, the mean of each metric whose scale has an upper bound, as a share of the scale.

    Scores of turns are averaged within each conversation. Shares go from the worst end (0) to the
    best (1).
    """
    found: dict[str, dict[str, Mean]] = {}
    for metric, scores in run.scores.items():
        scale = run.scales.get(metric)
        if scale is None or scale.high is None:
            continue
        by_system = _grouped(by_conversation(scores), run)
        for system, clusters in by_system.items():
            found.setdefault(system, {})[metric] = _mean(clusters, scale)
    return {system: found[system] for system in sorted(found)}


def by_turn(run: ScoredRun, metric: str, *, fewest: int = FEWEST) -> dict[str, tuple[Mean, ...]]:
    """By system, the mean score of the first, second, ... system turn.

    They are shares of the scale if its ends are known. A list ends when fewer than `fewest`
    scenarios have a scored turn of that number; a turn without a score keeps its number. Raises
    DataError if the metric has no scores of turns, or if the texts are not known.
    """
    parts = run.parts.get(metric) or run.scores[metric]
    turns = {place: score for place, score in parts.items() if place.turn is not None}
    if not turns:
        raise DataError(f"{metric} has no scores of turns: choose a metric of turns by --metric")
    scale = run.scales.get(metric)
    numbered: dict[str, dict[int, dict[str, list[float]]]] = {}
    unknown = 0
    for place, score in turns.items():
        number = _number(run, place)
        if number is None:
            unknown += 1
            continue
        own = numbered.setdefault(run.systems[place.conversation], {}).setdefault(number, {})
        own.setdefault(run.clusters[place.conversation], []).append(score)
    if unknown == len(turns):
        raise DataError(
            "the number of a turn needs the conversation's text: take scores of a store, or labels "
            "that have texts"
        )
    found: dict[str, tuple[Mean, ...]] = {}
    for system in sorted(numbered):
        means: list[Mean] = []
        while len(clusters := numbered[system].get(len(means), {})) >= fewest:
            means.append(_mean(clusters, scale))
        found[system] = tuple(means)
    return found


def turn_metrics(run: ScoredRun) -> tuple[str, ...]:
    """The metrics with scores of turns."""
    return tuple(
        metric
        for metric, own in run.scores.items()
        if run.parts.get(metric) or any(place.turn is not None for place in own)
    )


def people_beside(run: ScoredRun, people: LabelSet, pairs: Mapping[str, str]) -> ScoredRun:
    """People's labels of the run's conversations, under the metrics that they are paired with.

    A metric is left out if a label is outside its scale, because the two are not of one scale.
    """
    known = set(run.systems)
    scores = {
        metric: {
            place: label
            for place, label in people.labels[aspect].items()
            if place.conversation in known
        }
        for metric, aspect in pairs.items()
        if metric in run.scores
    }
    kept = {
        metric: own
        for metric, own in scores.items()
        if own and _fits(own.values(), run.scales.get(metric))
    }
    return run._replace(scores=kept, parts={})


def _fits(labels: Iterable[float], scale: Scale | None) -> bool:
    if scale is None or scale.high is None:
        return False
    return all(scale.low <= label <= scale.high for label in labels)


def _number(run: ScoredRun, place: ScoreTarget) -> int | None:
    """The number of a system turn among those of its conversation, from 0."""
    turns = sorted(run.words.get(place.conversation, ()))
    return turns.index(place.turn) if place.turn in turns else None


def _grouped(scores: Mapping[str, float], run: ScoredRun) -> dict[str, dict[str, list[float]]]:
    """By system and scenario."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, score in scores.items():
        found.setdefault(run.systems[name], {}).setdefault(run.clusters[name], []).append(score)
    return found


def _mean(clusters: Mapping[str, Iterable[float]], scale: Scale | None) -> Mean:
    values = [fmean(own) for own in clusters.values()]
    if scale is not None and scale.high is not None:
        values = [scale.share(value) for value in values]
    low, high = interval_of_mean(values) or (None, None)
    return Mean(fmean(values), low, high, len(values))
