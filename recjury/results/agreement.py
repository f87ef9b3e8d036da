"""Compare two evaluators on the same conversations: their differences and their correlation."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.errors import StoreError
from recjury.records import JSON, Metric
from recjury.results.comparison import Comparison, Gap, corrected
from recjury.results.scores import scores_of
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


class _Shared(NamedTuple):
    """A metric as both evaluators declare it."""

    x: Metric
    y: Metric

    @property
    def is_on_one_scale(self) -> bool:
        """Whether a score means the same for both evaluators."""
        x, y = self
        return (x.low, x.high, x.higher_is_better) == (y.low, y.high, y.higher_is_better)


class _Met(NamedTuple):
    """A system in a scenario; its repeats count once."""

    system: str
    pair: str


class _Scores(NamedTuple):
    """The scores by X and Y."""

    x: float
    y: float


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
    shared = {name: _Shared(of_x[name], of_y[name]) for name in of_x if name in of_y}
    if not shared:
        raise StoreError(f"{x} and {y} have no metric in common: there is nothing to compare")
    require("metric", metrics, shared)
    scored: dict[str, dict[_Met, list[_Scores]]] = {
        metric: defaultdict(list) for metric in metrics or shared
    }
    pairs = 0
    for result in store.results(chosen):
        scores = scores_of(result)
        values = scores.values
        both = {m: (values.get(f"{x}.{m}"), values.get(f"{y}.{m}")) for m in scored}
        found = {m: _Scores(a, b) for m, (a, b) in both.items() if a is not None and b is not None}
        pairs += bool(found)
        for metric, given in found.items():
            scored[metric][_Met(scores.system, scores.pair)].append(given)
    means = {metric: [_mean(each) for each in by.values()] for metric, by in scored.items()}
    gaps = {metric: _gap(shared[metric], means[metric], seed) for metric in means}
    tested = corrected({"": Comparison(pairs, True, gaps)})[""].gaps
    return EvaluatorComparison(
        pairs, {m: _agree(gap, shared[m], means[m]) for m, gap in tested.items()}
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


def _mean(scores: Sequence[_Scores]) -> _Scores:
    return _Scores(fmean(each.x for each in scores), fmean(each.y for each in scores))


def _gap(shared: _Shared, means: Sequence[_Scores], seed: int) -> Gap:
    if not shared.is_on_one_scale:
        return Gap(shared.x, MeanDifference(None, None, None, None, len(means)))
    return Gap.of(shared.x, paired([m.x for m in means], [m.y for m in means], seed=seed))


def _agree(gap: Gap, shared: _Shared, means: Sequence[_Scores]) -> Agreement:
    alike = correlate([m.x for m in means], [m.y for m in means])
    comparable = means and shared.is_on_one_scale
    apart = fmean(abs(m.x - m.y) for m in means) if comparable else None
    return Agreement(gap.metric, gap.difference, apart, alike.spearman, alike.pearson)
