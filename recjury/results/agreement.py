"""Compare two evaluators on the same conversations: their differences and their correlation."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.errors import StoreError
from recjury.records import JSON, Metric
from recjury.results.differences import Compared, Comparison, Gap, compare_tallies, corrected
from recjury.results.scores import scores_of
from recjury.results.tally import Tally
from recjury.stats import MeanDifference
from recjury.stats.correlation import correlate
from recjury.store import CampaignEvaluator, Store
from recjury.store.choice import candidates, require


class Agreement(NamedTuple):
    """One metric as two evaluators rated it, over each system's scenarios that both scored.

    Repeats of a scenario are averaged first. `apart` is the mean absolute difference. If the
    evaluators rate on different scales, `apart` is None and `difference` has only `n`. A
    correlation is None if the scores of one evaluator do not vary.
    """

    metric: Metric
    difference: MeanDifference
    apart: float | None
    spearman: float | None
    pearson: float | None


class EvaluatorComparison(NamedTuple):
    """Two evaluators compared by metric id, X minus Y; p-values are Holm-corrected.

    `pairs` counts the conversations that both scored; repeats count here, and not in the `n` of
    a metric.
    """

    pairs: int
    agreements: dict[str, Agreement]

    def as_json(self) -> dict[str, JSON]:
        """The stable keys of `recjury compare --evaluators --json`."""
        shown: dict[str, JSON] = {
            name: {
                **each.difference._asdict(),
                "mean_absolute_difference": each.apart,
                "spearman": each.spearman,
                "pearson": each.pearson,
            }
            for name, each in self.agreements.items()
        }
        return {"pairs": self.pairs, "metrics": shown}


def compare_evaluators(
    store: Store,
    x: str,
    y: str,
    *,
    campaign: str | None = None,
    metrics: Sequence[str] = (),
    seed: int = 0,
) -> EvaluatorComparison:
    """Compare the ratings of two evaluators ("core", "core@1a2b") of a campaign with the same id.

    Without `campaign`, the newest campaign with both is used. `metrics` ("overall") restricts the
    comparison. Raises StoreError for an unknown evaluator or metric, and for evaluators without a
    common metric.
    """
    chosen, evaluators = _campaign(store, x, y, campaign)
    of_x, of_y = ({m.id: m for m in evaluators[name].metrics} for name in (x, y))
    shared = {name: metric for name, metric in of_x.items() if name in of_y}
    if not shared:
        raise StoreError(f"{x} and {y} have no metric in common: there is nothing to compare")
    require("metric", metrics, shared)
    first, second = Tally(), Tally()
    for result in store.results(chosen, whole=False):
        scores = scores_of(result)
        own, other = ({m: scores.values.get(f"{name}.{m}") for m in shared} for name in (x, y))
        both = [m for m in metrics or shared if own[m] is not None and other[m] is not None]
        if both:
            met = scores._replace(pair=f"{scores.system}\n{scores.pair}", missing={})
            for tally, given in ((first, own), (second, other)):
                values = {m: value for m in both if (value := given[m]) is not None}
                tally.add(met._replace(values=values))
    measures = [Compared(m, m, shared[m]) for m in metrics or shared]
    gaps = compare_tallies(first, second, measures, seed=seed).gaps
    for m, gap in gaps.items():
        if not _is_on_one_scale(of_x[m], of_y[m]):
            alone = MeanDifference(None, None, None, None, gap.difference.n)
            gaps[m] = gap._replace(difference=alone)
    tested = corrected({"": Comparison(first.conversations, True, gaps)})[""].gaps
    agreements = {m: _agree(gap, first.by_pair(m), second.by_pair(m)) for m, gap in tested.items()}
    return EvaluatorComparison(first.conversations, agreements)


def _campaign(
    store: Store, x: str, y: str, campaign: str | None
) -> tuple[str, Mapping[str, CampaignEvaluator]]:
    known: set[str] = set()
    for chosen in candidates(store, campaign):
        evaluators = {each.label: each for each in store.evaluators(chosen)}
        if {x, y} <= evaluators.keys():
            return chosen, evaluators
        known |= evaluators.keys()
    require("evaluator", (x, y), known)
    raise StoreError(f"no campaign has both {x} and {y}: evaluate one campaign with both")


def _is_on_one_scale(x: Metric, y: Metric) -> bool:
    """Whether a score means the same for both evaluators."""
    return (x.low, x.high, x.higher_is_better) == (y.low, y.high, y.higher_is_better)


def _agree(gap: Gap, x: Mapping[str, float], y: Mapping[str, float]) -> Agreement:
    alike = correlate(list(x.values()), [y[each] for each in x])
    comparable = gap.difference.difference is not None
    apart = fmean(abs(x[each] - y[each]) for each in x) if comparable else None
    return Agreement(gap.metric, gap.difference, apart, alike.spearman, alike.pearson)
