"""Length bias: how far scores follow the number of words, and whether people's labels do, too."""

from collections.abc import Mapping
from statistics import fmean
from typing import ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from recjury.agreement.metric_pairs import difference_of_correlations
from recjury.agreement.score_analysis import LabelledAnalysis
from recjury.agreement.scored_run import ScoredRun, Words
from recjury.errors import DataError
from recjury.records import Estimate, ScoreTarget
from recjury.stats.correlation import Correlation, correlate
from recjury.stats.dependent import CorrelationGap
from recjury.stats.resampled import CorrelationEstimates
from recjury.stats.score_table import FEWEST_SYSTEMS, ScoreTable, means_by_system
from recjury.stats.score_table import correlate as correlate_table
from recjury.tables import AnalysisInput, Cell, Column, Findings, Table, table_of


class LengthCorrelations(NamedTuple):
    """How scores correlate with the words of what they rate: all, within systems, between them.

    `between` is that of the systems' means; undefined for fewer than three systems.
    """

    estimates: CorrelationEstimates
    between: Correlation


class MetricLengthBias(NamedTuple):
    """An evaluator's correlations with length, and people's over the same places.

    `gap` is Pearson's r of the scores minus that of the labels, with its interval: the bias. Both
    are None without labels.
    """

    evaluator: LengthCorrelations
    people: LengthCorrelations | None
    gap: CorrelationGap | None


class Length(LabelledAnalysis):
    """How far scores follow the number of words: overall, within and between systems.

    The length is the words of the turn, or the mean words of the conversation's system turns. With
    labels, the same of people's labels is beside: a correlation is a bias if it is above theirs.
    Scores are turned round if less is better. A run file has no texts: give labels that have them.
    """

    source: ClassVar[str] = "FACE, appendix D.1, by conversation"

    resamples: int = Field(2_000, ge=100, le=1_000_000, description="behind the intervals")
    seed: int = Field(0, ge=0, description="of the resampling")

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each metric, and for people; and a figure."""
        from recjury.agreement.analysis_plots import Line, interval_rows

        scores = self.read(given)
        biases = length_biases(scores.run, scores.labels, resamples=self.resamples, seed=self.seed)
        if not biases:
            raise DataError(
                "no scored conversation has a known text: take scores of a store, or labels that "
                "have texts"
            )
        lines = [
            Line(f"{metric}, {who}", *own.estimates.pearson[:3])
            for metric, bias in biases.items()
            for who, own in (("scores", bias.evaluator), ("people", bias.people))
            if own is not None
        ]
        figure = interval_rows(lines, title="Scores and length", axis="Pearson's r with words")
        return Findings(tables=(_table(biases),), figures={"length": figure})


def length_biases(
    run: ScoredRun,
    labels: Mapping[str, Mapping[ScoreTarget, float]],
    *,
    resamples: int = 2_000,
    seed: int = 0,
) -> dict[str, MetricLengthBias]:
    """By metric; `labels` has people's labels of its aspect, where there are any.

    With labels, both correlations are over places with a score and a label. Metrics of which fewer
    than two places have a score and a text are left out.
    """
    biases: dict[str, MetricLengthBias] = {}
    for metric in run.scores:
        scores, given = run.oriented(metric), labels.get(metric)
        words = _words(run, scores)
        if given is not None:
            words = {place: number for place, number in words.items() if place in given}
        if len(words) < 2:
            continue
        own = run.table(metric, scores, words)
        correlated = _correlations(own, resamples, seed)
        if given is None:
            biases[metric] = MetricLengthBias(correlated, None, None)
            continue
        people = run.table(metric, given, words)
        gap = difference_of_correlations(own.score, people.score, own.label, own.cluster.tolist())
        biases[metric] = MetricLengthBias(
            correlated, _correlations(people, resamples, seed), gap and gap.gap
        )
    return biases


def _correlations(table: ScoreTable, resamples: int, seed: int) -> LengthCorrelations:
    (estimates,) = correlate_table(table, resamples=resamples, seed=seed).values()
    if len(table.systems) < 2:  # then within the system is all there is
        none = Estimate(None)
        estimates = estimates._replace(within_pearson=none, within_spearman=none)
    return LengthCorrelations(estimates, _between(table))


def _between(table: ScoreTable) -> Correlation:
    names, system = np.unique(table.system, return_inverse=True)
    if len(names) < FEWEST_SYSTEMS:
        return Correlation(None, None, len(names))
    columns = (table.score, table.label)
    return correlate(*(means_by_system(column, system, len(names)) for column in columns))


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


_COLUMNS = (
    Column("metric"),
    Column("who"),
    Column("pearson", "r", 3),
    Column("spearman", "rho", 3),
    Column("within_pearson", "r within systems", 3),
    Column("within_spearman", digits=3, detail=True),
    Column("between_pearson", "r between systems", 3),
    Column("between_spearman", digits=3, detail=True),
    Column("systems", detail=True),
    Column("n"),
    Column("above_people", "r above people's", 3),
)


def _table(biases: Mapping[str, MetricLengthBias]) -> Table:
    return table_of(
        "length",
        _COLUMNS,
        _rows(biases),
        notes=["correlations with words of the turn, or mean words of the system's turns"],
    )


def _rows(biases: Mapping[str, MetricLengthBias]) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for metric, bias in biases.items():
        gap = None if bias.gap is None else Estimate(*bias.gap)
        own = _cells(bias.evaluator)
        rows.append({"metric": metric, "who": "scores", **own, "above_people": gap})
        if bias.people is not None:
            rows.append({"metric": metric, "who": "people", **_cells(bias.people)})
    return rows


def _cells(found: LengthCorrelations) -> dict[str, Cell]:
    estimates, between = found
    return {
        **estimates._asdict(),
        "between_pearson": between.pearson,
        "between_spearman": between.spearman,
        "systems": between.n,
    }
