"""The metrics of `core`: the verdict of the debate, and the twelve factors."""

from recjury.debate import OVERALL
from recjury.records import (
    FACTOR_SCALE,
    OVERALL_SCALE,
    Factor,
    Metric,
    Need,
    metric_id,
)

_NEEDS = {
    Factor.EFFECTIVENESS: (Need.LIST, Need.TARGETS),
    Factor.NOVELTY: (Need.LIST,),
    Factor.DIVERSITY: (Need.LIST,),
    Factor.SEMANTIC_RELEVANCE: (Need.LIST,),
    Factor.EXPLAINABILITY: (Need.LIST,),
    Factor.GROUNDNESS: (Need.LIST,),
}


def core_metrics(*, debate: bool, llm: bool) -> tuple[Metric, ...]:
    """The metrics in their order; `llm` says whether models rate the factors."""
    low, high = OVERALL_SCALE
    overall = Metric(id=metric_id(OVERALL), title=OVERALL, low=low, high=high, digits=1)
    return (*((overall,) if debate else ()), *(_of(factor, llm=llm) for factor in Factor))


def _of(factor: Factor, *, llm: bool) -> Metric:
    low, high = FACTOR_SCALE
    model = (Need.MODEL,) if llm else ()
    return Metric(
        id=metric_id(factor),
        title=str(factor),
        group=str(factor.dimension),
        low=low,
        high=high,
        needs=(*_NEEDS.get(factor, ()), *model),
    )
