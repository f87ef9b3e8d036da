"""Two evaluators on the same conversations: how far apart they are, and how alike they rank."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.errors import StoreError
from recjury.records import JSON, Metric
from recjury.results.choice import newest_first, unknown
from recjury.results.scores import scores_of
from recjury.stats import Difference, holm, paired
from recjury.stats.correlation import correlate
from recjury.store import CampaignEvaluator, Store


class Agreement(NamedTuple):
    """One metric as two evaluators rated it, over the conversations that both scored.

    `apart` is the mean absolute difference. Correlations are None where a side does not vary.
    """

    metric: Metric
    difference: Difference
    apart: float | None
    spearman: float | None
    pearson: float | None


class Evaluators(NamedTuple):
    """Two evaluators compared by metric id, X minus Y; p-values are Holm-corrected.

    `pairs` counts the conversations that both scored.
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
) -> Evaluators:
    """Compare what two evaluators ("core", "core@1a2b") of a campaign rated under the same id.

    Without `campaign`, of the newest that has both. `metrics` ("overall") restricts what is
    compared. Raises StoreError for an evaluator or metric that is not there, and for evaluators
    that rate nothing in common.
    """
    chosen, evaluators = _campaign(store, x, y, [campaign] if campaign else newest_first(store))
    ids = {metric.id for metric in evaluators[y].metrics}
    shared = {metric.id: metric for metric in evaluators[x].metrics if metric.id in ids}
    if not shared:
        raise StoreError(f"{x} and {y} have no metric in common: there is nothing to compare")
    for metric in metrics:
        if metric not in shared:
            raise unknown("metric", metric, shared)
    scored: dict[str, list[tuple[float, float]]] = {metric: [] for metric in metrics or shared}
    pairs = 0
    for result in store.results(chosen):
        values = scores_of(result).values
        both = {m: (values.get(f"{x}.{m}"), values.get(f"{y}.{m}")) for m in scored}
        found = {m: (a, b) for m, (a, b) in both.items() if a is not None and b is not None}
        pairs += bool(found)
        for metric, scores in found.items():
            scored[metric].append(scores)
    return Evaluators(pairs, _corrected({m: _agree(shared[m], scored[m], seed) for m in scored}))


def _campaign(
    store: Store, x: str, y: str, campaigns: Iterable[str]
) -> tuple[str, dict[str, CampaignEvaluator]]:
    known: set[str] = set()
    for campaign in campaigns:
        evaluators = {each.label: each for each in store.evaluators(campaign)}
        if {x, y} <= evaluators.keys():
            return campaign, evaluators
        known |= evaluators.keys()
    for name in (x, y):
        if name not in known:
            raise unknown("evaluator", name, known)
    raise StoreError(f"no campaign has both {x} and {y}: evaluate one campaign with both")


def _agree(metric: Metric, scores: Sequence[tuple[float, float]], seed: int) -> Agreement:
    a, b = [first for first, _ in scores], [second for _, second in scores]
    alike = correlate(a, b)
    apart = fmean(abs(first - second) for first, second in scores) if scores else None
    return Agreement(metric, paired(a, b, seed=seed), apart, alike.spearman, alike.pearson)


def _corrected(agreements: dict[str, Agreement]) -> dict[str, Agreement]:
    tested = {m: each.difference.p for m, each in agreements.items() if not each.metric.detail}
    p = holm(tested)
    return {
        metric: each._replace(difference=each.difference._replace(p=p.get(metric)))
        for metric, each in agreements.items()
    }
