"""How few conversations rank systems as all do (FACE, figure 4)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recjury.agreement.score_analysis import LabelledAnalysis
from recjury.agreement.scored_run import ScoredRun, by_conversation
from recjury.errors import DataError
from recjury.records import Estimate, ScoreTarget
from recjury.stats.correlation import correlate_rows
from recjury.stats.score_table import FEWEST_SYSTEMS, ScoreTable
from recjury.tables import AnalysisInput, Cell, Column, Figure, Findings, Table, table_of

SIZES = (1, 2, 3, 5, 8, 10, 15, 20, 30, 40)


class SampleQuality(NamedTuple):
    """How good rankings from `size` conversations of each system are, over many draws.

    `evaluator` and `people` are Spearman's correlations with the ranking by all labels: for the
    evaluator's scores and for the labels of the drawn conversations. Each is the mean and the
    range that contains 95 % of the draws.
    """

    size: int
    evaluator: Estimate
    people: Estimate


class SampleCurve(NamedTuple):
    """How good rankings from few conversations are, for one metric.

    They are compared with the ranking of the systems by all labels of people, or, if `by_people` is
    False, by all of the metric's own scores; `SampleQuality.people` then repeats the evaluator.
    `smallest` is the number of conversations of the smallest system.
    """

    by_people: bool
    systems: int
    smallest: int
    sizes: tuple[SampleQuality, ...]


class SampleSizes(LabelledAnalysis):
    """How few conversations of each system rank the systems as all do.

    For each number of conversations a system, Spearman's rho of the ranking by their mean score
    with the ranking by all scores. With labels, the ranking by all of people's labels is the one to
    reach, and people's labels of the drawn conversations are beside.
    """

    source: ClassVar[str] = "FACE, figure 4"

    sizes: tuple[int, ...] = Field(SIZES, min_length=1, description="conversations of each system")
    draws: int = Field(1_000, ge=10, le=100_000, description="random draws of each size")
    seed: int = Field(0, ge=0, description="of the draws")

    async def run(self, given: AnalysisInput) -> Findings:
        """The correlations by size, and a figure."""
        scores = self.read(given)
        chosen = scores.run if scores.people is None else scores.run.choose(list(scores.pairs))
        curves = sample_curves(
            chosen, scores.labels, sizes=self.sizes, draws=self.draws, seed=self.seed
        )
        lost = [name for name in chosen.scores if name not in curves]
        notes = [f"left out, because fewer than three systems have it: {', '.join(lost)}"]
        return Findings(
            tables=(_sizes(curves), _rankings(curves)),
            figures={"samples": _figure(curves)},
            notes=tuple(notes if lost else ()),
        )


def sample_curves(
    run: ScoredRun,
    labels: Mapping[str, Mapping[ScoreTarget, float]],
    *,
    sizes: Sequence[int] = SIZES,
    draws: int = 1_000,
    seed: int = 0,
) -> dict[str, SampleCurve]:
    """By metric; `labels` has people's labels of its aspect, where they rank the systems.

    Conversations of each system are drawn on their own, without replacement. Scores and labels of
    turns are averaged within each conversation; only conversations that have both count. Sizes
    beyond the smallest system are left out, and metrics that fewer than three systems have. Raises
    DataError if no metric is left.
    """
    curves: dict[str, SampleCurve] = {}
    too_few: list[str] = []
    for metric in run.scores:
        scores = by_conversation(run.oriented(metric))
        by_people = metric in labels
        ranking = by_conversation(labels[metric]) if by_people else scores
        table = run.table(
            metric, scores, {place: ranking[place] for place in scores if place in ranking}
        )
        if len(table.systems) < FEWEST_SYSTEMS:
            too_few.append(
                f"{metric}: {len(table.systems)} systems have scores{' and labels' * by_people}, "
                f"and a rank correlation needs {FEWEST_SYSTEMS}"
            )
            continue
        curves[metric] = SampleCurve(
            by_people,
            len(table.systems),
            min(own.n for own in table.groups("system").values()),
            sample_qualities(table, sorted(set(sizes)), draws=draws, seed=seed),
        )
    if too_few and not curves:
        raise DataError(too_few[0])
    return curves


def sample_qualities(
    table: ScoreTable, sizes: Sequence[int], *, draws: int = 1_000, seed: int = 0
) -> tuple[SampleQuality, ...]:
    """How good rankings from few conversations are; one row is one conversation.

    Sizes beyond the smallest system's number of conversations are left out.
    """
    rng = np.random.default_rng(seed)
    rows_of = [np.flatnonzero(table.system == system) for system in table.systems]
    gold = np.array([table.label[rows].mean() for rows in rows_of])
    qualities: list[SampleQuality] = []
    for size in sizes:
        if size > min(map(len, rows_of)):
            break
        drawn = np.array(
            [[rng.choice(rows, size, replace=False) for rows in rows_of] for _ in range(draws)]
        )
        qualities.append(
            SampleQuality(size, _rho(table.score, drawn, gold), _rho(table.label, drawn, gold))
        )
    return tuple(qualities)


def _rho(
    values: NDArray[np.float64], drawn: NDArray[np.int64], gold: NDArray[np.float64]
) -> Estimate:
    """Mean and 95 % range over `drawn` [draws, systems, size]."""
    means = values[drawn].mean(axis=-1).round(9)
    # Equal means give no order: their correlation counts as 0.
    rho = np.nan_to_num(correlate_rows(means, gold).spearman)
    low, high = np.quantile(rho, [0.025, 0.975])
    return Estimate(float(rho.mean()), float(low), float(high))


def _figure(curves: Mapping[str, SampleCurve]) -> Figure:
    from recjury.agreement.analysis_plots import sample_plot

    first = next(iter(curves.values()))
    return sample_plot(
        {
            name: {each.size: each.evaluator for each in curve.sizes}
            for name, curve in curves.items()
        },
        {each.size: each.people for each in first.sizes} if first.by_people else {},
    )


def _sizes(curves: Mapping[str, SampleCurve]) -> Table:
    """A row for each size; people's curve is there once for each aspect that ranks."""
    rows: dict[int, dict[str, Cell]] = {}
    columns = [Column("size", "conversations a system"), *(Column(name) for name in curves)]
    columns += [Column(f"people, {name}") for name, each in curves.items() if each.by_people]
    for name, curve in curves.items():
        for quality in curve.sizes:
            row = rows.setdefault(quality.size, {"size": quality.size})
            row |= {name: quality.evaluator, f"people, {name}": quality.people}
    return table_of(
        "sizes",
        columns,
        [rows[size] for size in sorted(rows)],
        notes=["Spearman's rho with the ranking: mean of the draws, and the range of 95 % of them"],
    )


def _rankings(curves: Mapping[str, SampleCurve]) -> Table:
    columns = (
        Column("metric"),
        Column("ranking_by"),
        Column("systems"),
        Column("smallest_system", "conversations of the smallest system"),
    )
    rows: list[dict[str, Cell]] = [
        {
            "metric": name,
            "ranking_by": "people's labels" if curve.by_people else "all scores",
            "systems": curve.systems,
            "smallest_system": curve.smallest,
        }
        for name, curve in curves.items()
    ]
    return table_of("rankings", columns, rows)
