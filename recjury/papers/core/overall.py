"""CoRE's third question: what agrees with people's overall score."""

from collections.abc import Mapping
from typing import ClassVar

from recjury.agreement.agreement import AspectAgreement, agreements
from recjury.agreement.coefficient_columns import COEFFICIENTS, coefficient_cells
from recjury.agreement.label_sets import LabelSet
from recjury.errors import DataError
from recjury.papers.core.core_analysis import CoreAnalysis, people_of_store
from recjury.papers.core.factor_scores import FACTORS, OVERALL, JudgedFactors, mean_of_factors
from recjury.papers.published import published
from recjury.records import ScoreTarget
from recjury.tables import AnalysisInput, Cell, Column, Findings, Input, table_of

_ALL = "all"


class Rq3(CoreAnalysis):
    """What agrees with people's overall score: means of factors, debates, Recall, Persuasiveness.

    The paper's figures are below.
    """

    source: ClassVar[str] = "CoRE, RQ3, table 9"
    needs: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN, Input.LABELS)

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each score of the whole conversation."""
        people, judged = people_of_store(given), self.judged(given)
        assert people is not None  # labels are needed
        found = overall_agreement(judged, people, resamples=self.resamples, seed=self.seed)
        rows: list[dict[str, Cell]] = [
            {"score": name, **coefficient_cells(each)} for name, each in found.metrics.items()
        ]
        rows += (
            {"score": f"{name} (paper)", **own}
            for name, own in published("core")["overall"].items()
        )
        return Findings(
            tables=(table_of("overall", (Column("score"), *COEFFICIENTS), rows),),
            notes=(*_undefined(found), *self.too_few(judged.records)),
        )


def _undefined(found: AspectAgreement) -> tuple[str, ...]:
    """What to say of scores that have no correlation, such as Recall without lists."""
    none = [
        name
        for name, each in found.metrics.items()
        if each.estimates is None or each.estimates.spearman.value is None
    ]
    if not none:
        return ()
    return (
        f"no correlation: {', '.join(none)}, which are the same in all conversations, or need a "
        "list, a target or a debate: `recjury run FILE` says which ratings are missing, and why",
    )


def overall_agreement(
    judged: JudgedFactors, people: LabelSet, *, resamples: int = 2_000, seed: int = 0
) -> AspectAgreement:
    """Means of factors, verdicts and other scores of the whole against people's overall score.

    Raises DataError if people gave none.
    """
    if not people.labels.get(OVERALL):
        raise DataError(
            "people gave no overall score, the aspect `overall`: `recjury annotate export FOLDER` "
            "asks for it"
        )
    named: dict[str, Mapping[ScoreTarget, float]] = {
        f"mean of factors ({judge})": mean_of_factors(own, FACTORS)
        for judge, own in judged.judges.items()
    }
    named |= judged.overall
    pooled = people._replace(subsets=dict.fromkeys(people.subsets, _ALL))
    pairs = dict.fromkeys(named, OVERALL)
    return agreements(named, pooled, pairs, resamples=resamples, seed=seed)[_ALL][OVERALL]
