"""Compare two evaluators on the same conversations: their differences and their correlation."""

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.errors import StoreError
from recjury.records import JSON, Metric
from recjury.results.differences import Comparison, Gap, corrected
from recjury.results.scores import scores_of, sums_up
from recjury.stats import MeanDifference, paired
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
    compared = sorted(metrics or shared, key=lambda m: not sums_up(shared[m]))
    both: dict[str, dict[tuple[str, str], list[tuple[float, float]]]] = {m: {} for m in compared}
    pairs = 0
    for result in store.results(chosen, whole=False):
        scores = scores_of(result)
        values, place = scores.values, (scores.system, scores.pair)
        alike = [m for m in compared if {f"{x}.{m}", f"{y}.{m}"} <= values.keys()]
        for m in alike:
            own = (values[f"{x}.{m}"], values[f"{y}.{m}"])
            both[m].setdefault(place, []).append(own)
        pairs += bool(alike)
    means = {m: _means(by_scenario.values()) for m, by_scenario in both.items()}
    gaps: dict[str, Gap] = {}
    for m, (of_x_alone, of_y_alone) in means.items():
        difference = MeanDifference(None, None, None, None, len(of_x_alone))
        if _is_on_one_scale(of_x[m], of_y[m]):
            tested = not shared[m].detail
            difference = paired(of_x_alone, of_y_alone, seed=seed, tested=tested)
        gaps[m] = Gap(shared[m], difference)
    tested_gaps = corrected({"": Comparison(pairs, True, gaps)})[""].gaps
    return EvaluatorComparison(pairs, {m: _agree(g, *means[m]) for m, g in tested_gaps.items()})


def _means(
    by_scenario: Collection[Sequence[tuple[float, float]]],
) -> tuple[list[float], list[float]]:
    """The scores of both evaluators, each a mean over the repeats of a scenario."""
    return (
        [fmean(x for x, _ in repeats) for repeats in by_scenario],
        [fmean(y for _, y in repeats) for repeats in by_scenario],
    )


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


def _agree(gap: Gap, x: Sequence[float], y: Sequence[float]) -> Agreement:
    alike = correlate(x, y)
    comparable = gap.difference.difference is not None
    apart = fmean(abs(a - b) for a, b in zip(x, y, strict=True)) if comparable else None
    return Agreement(gap.metric, gap.difference, apart, alike.spearman, alike.pearson)
