"""CoRE's fourth question: each system's factors, by judge and data set, and the roles' scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import ClassVar

from recjury.papers.core.core_analysis import CoreAnalysis, people_of_store
from recjury.papers.core.factor_agreement import best_judges, factor_agreement
from recjury.papers.core.factor_scores import FactorScores, JudgedFactors
from recjury.papers.published import published
from recjury.records import FACTOR_SCALE, OVERALL_SCALE, Estimate
from recjury.tables import AnalysisInput, Cell, Column, Findings, Input, Table, table_of
from recjury.tables.figure import Figure

_NO_DEBATE = (
    "no debate was held, so there are no scores by role: `recjury judge --campaign ID --config "
    "FILE` holds them, with `debate` in the entry of `core`"
)
_NO_LABELS = (
    "without --labels, each factor is by the mean of the judges, or the only one, and not by the "
    "judge that agrees best with people: `recjury annotate export FOLDER` asks people"
)
_MEANS = [Column(n) for n in ("judge", "corpus", "system", "score", "mean", "sd", "n")]

Row = dict[str, Cell]


class Rq4(CoreAnalysis):
    """Each system's factors, by judge and data set, and the debaters' scores by role.

    `systems` is figure 7: with labels, each factor is by the judge that agrees best with people;
    otherwise by the mean of several judges or the only one. `roles` is figure 8: what the roles
    said in the last round, 0 to 100, and the verdict. `judges` has tables 21 to 23.
    """

    source: ClassVar[str] = "CoRE, RQ4, figures 7 and 8, tables 21 to 23"
    takes: ClassVar[tuple[Input, ...]] = (Input.LABELS,)

    async def run(self, given: AnalysisInput) -> Findings:
        """Three tables by system, with the paper's, and two figures."""
        people, judged = people_of_store(given), self.judged(given)
        judge_of = usual_judge(judged)
        if people is not None:
            found = factor_agreement(judged, people, resamples=1)  # no interval is shown
            judge_of |= {name: each.judge for name, each in best_judges(judged, found).items()}
        by_system = {log: {"system": system} for log, system in judged.systems.items()}
        by_both = {log: {"corpus": judged.corpora[log], **own} for log, own in by_system.items()}
        systems = [
            {"judge": judge, **row}
            for factor, judge in judge_of.items()
            for row in mean_rows({factor: judged.judges[judge].get(factor, {})}, by_system)
        ]
        roles = mean_rows(self.roles(given), by_system)
        means = [
            {"judge": judge, **row}
            for judge, scores in judged.judges.items()
            for row in mean_rows(scores, by_both)
        ]
        tables = [_by_system("systems", systems, ("score", "judge"))]
        tables += [_by_system("roles", roles, ("score",))] if roles else []
        tables += [
            _by_system("judges", means, ("judge", "corpus", "score")),
            table_of("means", _MEANS, means, detail=True),
            table_of("paper", _MEANS, list(_published()), detail=True),
        ]
        figures = {
            "figure7": _radar(systems, FACTOR_SCALE[1]),
            "figure8": _radar(roles, OVERALL_SCALE[1]),
        }
        notes = (*(() if people else (_NO_LABELS,)), *(() if roles else (_NO_DEBATE,)))
        return Findings(
            tables=tuple(tables),
            figures={name: each for name, each in figures.items() if each is not None},
            notes=(*notes, *self.too_few(judged.records)),
        )


def mean_rows(scores: FactorScores, groups: Mapping[str, Mapping[str, str]]) -> list[Row]:
    """The mean of each score in each group, its standard deviation and n, as rows.

    `groups` has the cells that name a conversation's group, such as its system.
    """
    grouped: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for name, own in scores.items():
        for place, score in own.items():
            cells = (*groups[place.conversation].items(), ("score", name))
            grouped.setdefault(cells, []).append(score)
    return [
        {
            **dict(cells),
            "mean": fmean(values),
            "sd": stdev(values) if len(values) > 1 else None,
            "n": len(values),
        }
        for cells, values in grouped.items()
    ]


def usual_judge(judged: JudgedFactors) -> dict[str, str]:
    """The mean of several judges, or the first judge, for each factor that it rated."""
    name = next((each for each in judged.judges if each not in judged.single), None)
    judge = name or next(iter(judged.judges))
    return dict.fromkeys(judged.judges[judge], judge)


def _published() -> Iterator[Row]:
    for judge, systems in published("core")["systems"].items():
        for system, corpora in systems.items():
            for corpus, factors in corpora.items():
                for factor, own in factors.items():
                    place = {"judge": judge, "corpus": corpus, "system": system, "score": factor}
                    yield {**place, **own}


def _by_system(name: str, rows: Sequence[Row], keys: Sequence[str]) -> Table:
    """Means as the paper prints them, "3.66 (0.66)": a column for each system."""
    wide: dict[tuple[Cell, ...], Row] = {}
    for row in rows:
        own = wide.setdefault(tuple(row[key] for key in keys), {key: row[key] for key in keys})
        own[str(row["system"])] = f"{row['mean']:.2f}" + (
            "" if row["sd"] is None else f" ({row['sd']:.2f})"
        )
    systems = sorted({str(row["system"]) for row in rows})
    columns = (*map(Column, keys), *(Column(each, f"{each}, mean (sd)") for each in systems))
    return table_of(name, columns, list(wide.values()))


def _radar(rows: Iterable[Row], high: float) -> Figure | None:
    from recjury.agreement.analysis_plots import radar_plot

    shares: dict[str, dict[str, Estimate]] = {}
    for row in rows:
        share = Estimate(float(str(row["mean"])) / high)
        shares.setdefault(str(row["system"]), {})[str(row["score"])] = share
    return radar_plot({"means": shares}) if shares else None
