"""CoRE's fourth question: each system's factors and roles."""

from collections.abc import Iterator, Mapping
from statistics import fmean, stdev
from typing import ClassVar, NamedTuple

from recjury.papers.core.core_analysis import CoreAnalysis, people_of_store, published
from recjury.papers.core.factor_agreement import best_judges, factor_agreement
from recjury.papers.core.factor_scores import ROLES, JudgedFactors, mean_of_factors
from recjury.records import ScoreTarget
from recjury.tables import AnalysisInput, Cell, Column, Findings, Input, table_of


class MeanScore(NamedTuple):
    """A mean over conversations, its standard deviation, and their number."""

    mean: float
    sd: float | None
    n: int


class Rq4(CoreAnalysis):
    """Each system's factors, and each role's mean of factors, with standard deviations.

    By the mean of several judges or the only one; with labels, each factor by the judge that agrees
    best with people.
    """

    source: ClassVar[str] = "CoRE, RQ4, tables 21 to 23"
    takes: ClassVar[tuple[Input, ...]] = (Input.LABELS,)

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each factor and role, and all means, with the paper's."""
        people, judged = people_of_store(given), self.judged(given)
        judge_of = usual_judge(judged)
        if people is not None:
            found = factor_agreement(judged, people, resamples=self.resamples, seed=self.seed)
            best = best_judges(judged, people, found)
            judge_of |= {factor: each.judge for factor, each in best.items()}
        systems = system_scores(judged, judge_of)
        names = dict.fromkeys(name for own in systems.values() for name in own)
        shown = [
            {
                "score": name,
                **{system: _text(own[name]) for system, own in systems.items() if name in own},
            }
            for name in names
        ]
        means: list[dict[str, Cell]] = [
            {"system": system, "score": name, **each._asdict()}
            for system, own in systems.items()
            for name, each in own.items()
        ]
        columns = [Column(name) for name in ("system", "score", "mean", "sd", "n")]
        wide = [Column("score", "mean (sd)"), *(Column(system, system) for system in systems)]
        return Findings(
            tables=(
                table_of("systems", wide, shown),
                table_of("means", columns, means, detail=True),
                table_of("paper", _PAPER, list(_published()), detail=True),
            )
        )


_PAPER = [Column(name) for name in ("judge", "system", "corpus", "factor", "mean")]


def _published() -> Iterator[dict[str, Cell]]:
    for judge, systems in published()["systems"].items():
        for system, corpora in systems.items():
            for corpus, factors in corpora.items():
                for factor, mean in factors.items():
                    place = {"judge": judge, "system": system, "corpus": corpus}
                    yield {**place, "factor": factor, "mean": mean}


def _text(found: MeanScore) -> str:
    return f"{found.mean:.2f}" + ("" if found.sd is None else f" ({found.sd:.2f})")


def system_scores(
    judged: JudgedFactors, judge_of: Mapping[str, str]
) -> dict[str, dict[str, MeanScore]]:
    """By system, each factor and each role's mean of factors; `judge_of` names a factor's judge."""
    chosen = {
        factor: judged.judges[judge][factor]
        for factor, judge in judge_of.items()
        if factor in judged.judges[judge]
    }
    shown: dict[str, Mapping[ScoreTarget, float]] = {name: chosen[name] for name in chosen}
    shown |= {role: mean_of_factors(chosen, names) for role, names in ROLES.items()}
    means: dict[str, dict[str, MeanScore]] = {}
    for name, scores in shown.items():
        grouped: dict[str, list[float]] = {}
        for place, score in scores.items():
            grouped.setdefault(judged.systems[place.conversation], []).append(score)
        for system, values in grouped.items():
            sd = stdev(values) if len(values) > 1 else None
            means.setdefault(system, {})[name] = MeanScore(fmean(values), sd, len(values))
    return {system: means[system] for system in sorted(means)}


def usual_judge(judged: JudgedFactors) -> dict[str, str]:
    """The mean of several judges, or the first judge, for each factor that it rated."""
    name = next((each for each in judged.judges if each not in judged.single), None)
    judge = name or next(iter(judged.judges))
    return dict.fromkeys(judged.judges[judge], judge)
