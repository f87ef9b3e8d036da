"""CoRE's second question: how far each judge agrees with people on each factor."""

import json
from collections.abc import Iterable, Mapping
from typing import ClassVar, NamedTuple

from pydantic import Field

from recjury.agreement.agreement import AspectAgreement, Coefficients, agreements
from recjury.agreement.coefficient_columns import COEFFICIENTS, coefficient_cells
from recjury.agreement.label_sets import LabelSet
from recjury.errors import ConfigError, DataError
from recjury.papers.core.core_analysis import CoreAnalysis, people_of_store
from recjury.papers.core.factor_scores import FACTORS, JudgedFactors
from recjury.papers.core.judge_weights import EQUAL, combined_judges
from recjury.papers.published import published
from recjury.records import Estimate, Factor, metric_id
from recjury.tables import AnalysisInput, Cell, Column, Findings, Input, Table, table_of

ALL = "all"


class BestJudge(NamedTuple):
    """The judge with the highest Spearman correlation for a factor, and the correlation."""

    judge: str
    spearman: float


class FactorAnswers(NamedTuple):
    """The judges' factors, their agreement with people by factor, and the best judge of each.

    `agreement` has the judges combined, too; `weights` are those by factor and judge.
    """

    judged: JudgedFactors
    weights: Mapping[str, Mapping[str, float]]
    agreement: Mapping[str, AspectAgreement]
    best: Mapping[str, BestJudge]


class Rq2(CoreAnalysis):
    """How far each judge agrees with people on each factor, and which judge is best.

    Spearman's rho over all corpora together. With several judges, their mean stands beside the
    best judge and a weighted mean, both chosen on other records (`held out`). The ceiling is one
    person's rho with the others. The paper's figures are beside.
    """

    source: ClassVar[str] = "CoRE, RQ2, section 7.1.2, table 8"
    needs: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN, Input.LABELS)

    prior: float = Field(40, ge=0, le=1e6, description="conversations that equal weights count for")

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each factor, the judges' weights, and all coefficients."""
        found = self.answers(given)
        weights: list[dict[str, Cell]] = [{"factor": f, **own} for f, own in found.weights.items()]
        columns = [Column("factor"), *(Column(each, each) for each in found.judged.single)]
        tables = [_factor_table(found)]
        tables += [table_of("weights", columns, weights)] if weights else []
        return Findings(
            tables=(*tables, _coefficient_table(found.agreement)),
            notes=(*self.one_judge(found.judged.single), *self.too_few(found.judged.records)),
        )

    def answers(self, given: AnalysisInput) -> FactorAnswers:
        """What judges and people say of each factor. Raises UserError."""
        people, judged = people_of_store(given), self.judged(given)
        assert people is not None  # labels are needed
        ways, weights = combined_judges(judged, people, self.prior)
        if len(judged.single) < len(judged.judges):  # then their mean is that of equal weights
            ways = {name: own for name, own in ways.items() if name != EQUAL}
        every = judged._replace(judges={**judged.judges, **ways})
        found = factor_agreement(every, people, resamples=self.resamples, seed=self.seed)
        return FactorAnswers(judged, weights, found, best_judges(judged, found))


class Routing(Rq2):
    """The judge that agrees best with people on each factor, as a file for `judges.routing`.

    It is for judges that are models of one `core` evaluator.
    """

    source: ClassVar[str] = "CoRE, section 5, RQ2"

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each factor, and routing.yaml."""
        found = self.answers(given)
        for missing in self.one_judge(found.judged.single):
            raise ConfigError(missing)
        if not found.best:
            raise ConfigError("no judge has a correlation with people: there is nothing to route")
        judges = [each.judge for each in found.best.values()]
        evaluators = {judge.rpartition(":")[0] for judge in judges}
        if len(evaluators) > 1 or any("measured" in judge for judge in judges):
            raise ConfigError("a routing is for judges that are models of one `core` evaluator")
        text = routing_text(found.best, found.judged.single)
        return Findings(
            tables=(_best_table(found.best),),
            files={"routing.yaml": text.encode()},
            notes=("judges: {models: [...], routing: routing.yaml}",),
        )


def factor_agreement(
    judged: JudgedFactors, people: LabelSet, *, resamples: int = 2_000, seed: int = 0
) -> Mapping[str, AspectAgreement]:
    """By factor, each judge's agreement with people (RQ2), over all corpora together.

    Raises DataError if people rated none of the twelve factors, or other conversations.
    """
    labelled = [name for name in FACTORS if people.labels.get(name)]
    if not labelled:
        some = ", ".join(people.labels)
        raise DataError(f"people rated none of the twelve factors (rated: {some})")
    named = {
        f"{judge}.{factor}": own[factor]
        for factor in labelled
        for judge, own in judged.judges.items()
        if factor in own
    }
    pairs = {name: name.rpartition(".")[2] for name in named}
    pooled = people._replace(subsets=dict.fromkeys(people.subsets, ALL))
    return agreements(named, pooled, pairs, resamples=resamples, seed=seed)[ALL]


def best_judges(
    judged: JudgedFactors, found: Mapping[str, AspectAgreement]
) -> dict[str, BestJudge]:
    """By factor, the best of the single judges; those without any correlation are left out."""
    best: dict[str, BestJudge] = {}
    for factor, agreement in found.items():
        rho = {
            judge: value
            for judge in judged.single
            if (value := _spearman(agreement.metrics.get(f"{judge}.{factor}"))) is not None
        }
        if rho:
            judge = max(rho, key=rho.__getitem__)
            best[factor] = BestJudge(judge, rho[judge])
    return best


def _spearman(found: Coefficients | None) -> float | None:
    return None if found is None or found.estimates is None else found.estimates.spearman.value


def routing_text(best: Mapping[str, BestJudge], judges: Iterable[str]) -> str:
    """A file that `judges.routing` of `core` names: the model of each factor."""
    factors = {metric_id(factor): str(factor) for factor in Factor}
    known = ", ".join(judges)
    lines = [
        f"# The judge that agrees best with people on each factor, of: {known}.",
        "# judges: {models: [...], routing: THIS_FILE}",
    ]
    for factor, each in best.items():
        model = each.judge.rpartition(":")[2]
        lines.append(f"{factors[factor]}: {json.dumps(model)} # rho {each.spearman:.3f}")
    return "\n".join(lines) + "\n"


def _factor_table(found: FactorAnswers) -> Table:
    names = dict.fromkeys(
        name.rpartition(".")[0] for own in found.agreement.values() for name in own.metrics
    )
    paper = published("core")["factors"]
    theirs = list(next(iter(paper.values())))
    columns = (
        Column("factor"),
        *(Column(name, name, 3) for name in names),
        Column("best"),
        Column("ceiling", "one person with others", 3),
        Column("alpha", detail=True),
        *(Column(f"paper, {name}", f"paper, {name}", 3) for name in theirs),
    )
    rows: list[dict[str, Cell]] = []
    for factor, own in found.agreement.items():
        best = found.best.get(factor)
        rows.append(
            {
                "factor": factor,
                **{name: _rho(own.metrics.get(f"{name}.{factor}")) for name in names},
                "best": None if best is None else best.judge,
                "ceiling": own.ceiling and own.ceiling.one_against_the_rest,
                "alpha": own.ceiling and own.ceiling.alpha,
                **{f"paper, {name}": paper[factor][name]["spearman"] for name in theirs},
            }
        )
    return table_of("factors", columns, rows, notes=["Spearman's rho with 95 % intervals"])


def _coefficient_table(found: Mapping[str, AspectAgreement]) -> Table:
    rows: list[dict[str, Cell]] = [
        {"factor": factor, "judge": name.rpartition(".")[0], **coefficient_cells(each)}
        for factor, own in found.items()
        for name, each in own.metrics.items()
    ]
    rows += (
        {"factor": factor, "judge": f"{judge} (paper)", **coefficients}
        for factor, judges in published("core")["factors"].items()
        for judge, coefficients in judges.items()
    )
    columns = (Column("factor"), Column("judge"), *COEFFICIENTS)
    return table_of("coefficients", columns, rows, detail=True)


def _best_table(best: Mapping[str, BestJudge]) -> Table:
    columns = (Column("factor"), Column("judge"), Column("spearman", "rho", 3))
    return table_of(
        "best", columns, [{"factor": name, **own._asdict()} for name, own in best.items()]
    )


def _rho(found: Coefficients | None) -> Estimate | None:
    if found is None or found.estimates is None:
        return None
    return found.estimates.spearman
