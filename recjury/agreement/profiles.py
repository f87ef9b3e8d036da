"""Systems compared by an evaluator's scores: by metric and by turn (FACE, section 5.3)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from statistics import fmean
from typing import ClassVar, TypeVar

from pydantic import Field

from recjury.agreement.score_analysis import GivenScores, LabelledAnalysis, ScoreAnalysis
from recjury.agreement.score_files import Scale
from recjury.agreement.scored_run import ScoredRun, by_conversation
from recjury.errors import ConfigError, DataError
from recjury.plugins import Names
from recjury.records import Estimate, ScoreTarget
from recjury.stats.resampling import interval_of_mean
from recjury.store.choice import require
from recjury.tables import AnalysisInput, Column, Findings, Table, table_of

FEWEST = 5
"""A turn of which fewer scenarios have a score is not shown."""

_TURNS_SHOWN = 4  # metrics of turns, if none was named
_SHARES = "shares of the scale, from its worst end (0) to its best (1); n counts scenarios"

T = TypeVar("T")


class Radar(LabelledAnalysis):
    """Systems by metric, as shares of each metric's scale.

    With labels, people's means are beside, of aspects on the same scale. Metrics without an upper
    bound are left out.
    """

    source: ClassVar[str] = "FACE, section 5.3"

    systems: Names = Field((), description="only these systems")

    async def run(self, given: AnalysisInput) -> Findings:
        """A table of the scores and one of people's labels, and a figure."""
        from recjury.agreement.analysis_plots import radar_plot

        scores = self.read(given)
        panels = {"scores": _chosen(by_metric(scores.run), self.systems)}
        if not panels["scores"]:
            raise DataError("no metric has a scale with an upper bound: give columns low and high")
        beside = people_beside(scores)
        lost = [name for name in scores.pairs if name not in beside.scores]
        if beside.scores:
            panels["people"] = _chosen(by_metric(beside), self.systems)
        notes = [f"no labels on the scale of {', '.join(lost)}: left out of people's means"]
        figure = radar_plot(panels)
        return Findings(
            tables=tuple(_metric_table(name, systems) for name, systems in panels.items()),
            figures={} if figure is None else {"radar": figure},
            notes=tuple(notes if lost else ()),
        )


class Turns(ScoreAnalysis):
    """The mean score of the first, second, ... system turn, by system.

    For metrics that rate turns. A folder of {aspect}.jsonl also has the turns behind its scores of
    whole conversations. Later turns are of fewer, longer conversations. A run file has no texts:
    give labels that have them.
    """

    source: ClassVar[str] = "FACE, section 5.3"

    systems: Names = Field((), description="only these systems")
    fewest: int = Field(FEWEST, ge=1, description="leave out turns of fewer scenarios")

    async def run(self, given: AnalysisInput) -> Findings:
        """A table for each metric, and a figure."""
        from recjury.agreement.analysis_plots import turn_plot
        from recjury.agreement.label_forms import read_labels

        people = None if given.labels is None else read_labels(given.labels)
        run = self.read_run(given, people)
        known = turn_metrics(run)
        if not (self.metrics or known):
            raise ConfigError(
                f"no metric has scores of turns (rated: {', '.join(run.scores)}): evaluators of "
                "turns are in `recjury list evaluators`"
            )
        wanted = list(run.scores if self.metrics else known[:_TURNS_SHOWN])
        means = {
            metric: _chosen(by_turn(run, metric, fewest=self.fewest), self.systems)
            for metric in wanted
        }
        more = () if self.metrics else known[_TURNS_SHOWN:]
        return Findings(
            tables=tuple(_turn_table(metric, systems) for metric, systems in means.items()),
            figures={"turns": turn_plot(means)},
            notes=(f"not shown: {', '.join(more)}; choose by `metrics`",) if more else (),
        )


def by_metric(run: ScoredRun) -> dict[str, dict[str, Estimate]]:
    """By system, the mean of each metric whose scale has an upper bound, as a share of the scale.

    Scores of turns are averaged within each conversation. Shares go from the worst end (0) to the
    best (1).
    """
    means: dict[str, dict[str, Estimate]] = {}
    for metric, scores in run.scores.items():
        scale = run.scales.get(metric)
        if scale is None or scale.high is None:
            continue
        by_system: dict[str, dict[str, list[float]]] = {}
        for place, score in by_conversation(scores).items():
            clusters = by_system.setdefault(run.systems[place.conversation], {})
            clusters.setdefault(run.clusters[place.conversation], []).append(score)
        for system, clusters in by_system.items():
            means.setdefault(system, {})[metric] = _mean(clusters, scale)
    return {system: means[system] for system in sorted(means)}


def by_turn(
    run: ScoredRun, metric: str, *, fewest: int = FEWEST
) -> dict[str, tuple[Estimate, ...]]:
    """By system, the mean score of the first, second, ... system turn.

    They are shares of the scale if its ends are known. A list ends when fewer than `fewest`
    scenarios have a scored turn of that number; a turn without a score keeps its number. Raises
    DataError if the metric has no scores of turns, or if the texts are not known.
    """
    parts = run.parts.get(metric) or run.scores[metric]
    turns = {place: score for place, score in parts.items() if place.turn is not None}
    if not turns:
        raise DataError(f"{metric} has no scores of turns: choose a metric of turns by `metrics`")
    numbered: dict[str, dict[int, dict[str, list[float]]]] = {}
    for place, score in turns.items():
        number = _number(run, place)
        if number is not None:
            own = numbered.setdefault(run.systems[place.conversation], {}).setdefault(number, {})
            own.setdefault(run.clusters[place.conversation], []).append(score)
    if not numbered:
        raise DataError(
            "the number of a turn needs the conversation's text: take scores of a store, or labels "
            "that have texts"
        )
    scale = run.scales.get(metric)
    found: dict[str, tuple[Estimate, ...]] = {}
    for system in sorted(numbered):
        means: list[Estimate] = []
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


def people_beside(scores: GivenScores) -> ScoredRun:
    """People's labels of the run's conversations, under the metrics that they are paired with.

    A metric is left out if a label is outside its scale, because the two are not of one scale.
    """
    run = scores.run
    labels = {
        metric: {place: label for place, label in own.items() if place.conversation in run.systems}
        for metric, own in scores.labels.items()
    }
    fitting = {
        metric: own
        for metric, own in labels.items()
        if own and _fits(own.values(), run.scales.get(metric))
    }
    return run._replace(scores=fitting, parts={})


def _fits(labels: Iterable[float], scale: Scale | None) -> bool:
    if scale is None or scale.high is None:
        return False
    return all(scale.low <= label <= scale.high for label in labels)


def _number(run: ScoredRun, place: ScoreTarget) -> int | None:
    """The number of a system turn among those of its conversation, from 0."""
    turns = sorted(run.words.get(place.conversation, ()))
    return turns.index(place.turn) if place.turn in turns else None


def _mean(clusters: Mapping[str, Iterable[float]], scale: Scale | None) -> Estimate:
    """The mean over scenarios, each of which counts by its mean."""
    values = [fmean(own) for own in clusters.values()]
    if scale is not None and scale.high is not None:
        values = [scale.share(value) for value in values]
    low, high = interval_of_mean(values) or (None, None)
    return Estimate(fmean(values), low, high, len(values))


def _chosen(systems: Mapping[str, T], wanted: Sequence[str]) -> dict[str, T]:
    require("system", wanted, systems)
    return {name: systems[name] for name in wanted or systems}


def _metric_table(name: str, systems: Mapping[str, Mapping[str, Estimate]]) -> Table:
    """A row for each metric, a column for each system."""
    metrics = dict.fromkeys(metric for row in systems.values() for metric in row)
    rows = [
        {"metric": metric, **{system: row.get(metric) for system, row in systems.items()}}
        for metric in metrics
    ]
    columns = [Column("metric", name), *(Column(system, system) for system in systems)]
    return table_of(name, columns, rows, notes=[_SHARES])


def _turn_table(metric: str, systems: Mapping[str, Sequence[Estimate]]) -> Table:
    """A row for each system turn, a column for each system."""
    rows = [
        {"turn": number, **dict(zip(systems, means, strict=True))}
        for number, means in enumerate(zip_longest(*systems.values()), start=1)
    ]
    columns = [Column("turn", "system turn"), *(Column(system, system) for system in systems)]
    return table_of(metric, columns, rows, title=metric, notes=[_SHARES])
