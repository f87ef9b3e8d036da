"""Compare two systems: the difference on each metric."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from recjury.errors import StoreError
from recjury.records import JSON, Metric
from recjury.results.choice import candidates, require
from recjury.results.scores import is_newest, measures_of, scores_of
from recjury.results.summary import Tally
from recjury.stats import MeanDifference, holm, paired, unpaired
from recjury.store import CampaignEvaluator, Store

K = TypeVar("K", bound=Hashable)


class Gap(NamedTuple):
    """A metric's difference, A minus B. A metric that is a detail is not tested and has no
    p-value."""

    metric: Metric
    difference: MeanDifference

    @classmethod
    def of(cls, metric: Metric, difference: MeanDifference) -> "Gap":
        """The difference of a metric, without a p-value if the metric is a detail."""
        return cls(metric, difference._replace(p=None) if metric.detail else difference)


class Comparison(NamedTuple):
    """A minus B by measure; p-values are Holm-corrected over all measures that have one.

    `pairs` counts the scenarios that both systems met. If there are none, the groups are compared
    unpaired and `is_paired` is False.
    """

    pairs: int
    is_paired: bool
    gaps: dict[str, Gap]

    def as_json(self) -> dict[str, JSON]:
        """The stable keys of `recjury compare --json`."""
        shown = {name: gap.difference._asdict() for name, gap in self.gaps.items()}
        return {"pairs": self.pairs, "paired": self.is_paired, "metrics": shown}


class Compared(NamedTuple):
    """A metric under the ids that it has on both sides."""

    a: str
    b: str
    metric: Metric


class _Side(NamedTuple):
    """A system in a campaign, with all its scores there."""

    campaign: str
    tally: Tally


def compare_systems(
    store: Store,
    a: str,
    b: str,
    *,
    campaign: str | None = None,
    metrics: Sequence[str] = (),
    seed: int = 0,
) -> Comparison:
    """Compare two systems of a campaign.

    Without `campaign`, the newest campaign is taken in which both have a score of the same metric
    by the newest version of an evaluator. If there is none, the newest campaign of each system is
    taken, with the ratings by the same versions of evaluators. `metrics` ("core.overall") restricts
    what is compared. A metric is compared if both systems have a score of it. Raises StoreError for
    an unknown system, for one without any score, and for systems without a score of the same
    metric by the same version of an evaluator.
    """
    first, second = _sides(store, a, b, campaign)
    shared = _shared(store.evaluators(first.campaign), store.evaluators(second.campaign))
    if not any(m.a in first.tally.measured and m.b in second.tally.measured for m in shared):
        raise StoreError(
            f"{a} (campaign {first.campaign}) and {b} (campaign {second.campaign}) were not "
            "evaluated alike: run or judge both with the same evaluators"
        )
    by_id = {measure.a: measure for measure in shared}
    require("metric", metrics, by_id)
    chosen = [by_id[metric] for metric in metrics or by_id]
    return corrected({"": compare_tallies(first.tally, second.tally, chosen, seed=seed)})[""]


def _sides(store: Store, a: str, b: str, campaign: str | None) -> tuple[_Side, _Side]:
    """The newest campaign in which both have comparable scores, otherwise the newest of each."""
    known: set[str] = set()
    newest: dict[str, _Side] = {}
    for chosen in candidates(store, campaign):
        here = {each.system for each in store.conversations(chosen)}
        known |= here
        sides = {
            name: _Side(chosen, _tally(store, chosen, name)) for name in {a, b} if name in here
        }
        scored = {name: side for name, side in sides.items() if side.tally.measured}
        if scored.keys() == {a, b}:
            alike = scored[a].tally.measured & scored[b].tally.measured
            if alike & {each.a for each in newest_measures(store.evaluators(chosen))}:
                return scored[a], scored[b]
        newest = scored | newest
    require("system", (a, b), known)
    for name in (a, b):
        if name not in newest:
            raise StoreError(f"{name} has no score yet: there is nothing to compare")
    return newest[a], newest[b]


def _tally(store: Store, campaign: str, system: str) -> Tally:
    tally = Tally()
    for result in store.results(campaign, system):
        tally.add(scores_of(result))
    return tally


def _shared(
    of_a: Sequence[CampaignEvaluator], of_b: Sequence[CampaignEvaluator]
) -> tuple[Compared, ...]:
    """The metrics of the newest versions on A's side that B's side has of the same version."""
    return tuple(
        Compared(f"{each.label}.{metric.id}", f"{other.label}.{metric.id}", metric)
        for each in of_a
        for other in of_b
        if each.id == other.id and is_newest(each)
        for metric in each.metrics
    )


def newest_measures(evaluators: Sequence[CampaignEvaluator]) -> tuple[Compared, ...]:
    """The measures on which systems of one campaign are compared."""
    measures = measures_of(filter(is_newest, evaluators))
    return tuple(Compared(each.id, each.id, each.metric) for each in measures)


def compare_tallies(
    a: Tally, b: Tally, measures: Iterable[Compared], *, seed: int = 0
) -> Comparison:
    """Compare two systems' scores. The p-values are not corrected: see `corrected`."""
    pairs = len(a.pairs & b.pairs)
    gaps: dict[str, Gap] = {}
    for measure in measures:
        first, second = a.by_pair(measure.a), b.by_pair(measure.b)
        if pairs:
            both = [pair for pair in first if pair in second]
            gap = paired([first[p] for p in both], [second[p] for p in both], seed=seed)
        else:
            gap = unpaired(list(first.values()), list(second.values()), seed=seed)
        gaps[measure.a] = Gap.of(measure.metric, gap)
    return Comparison(pairs, pairs > 0, gaps)


def corrected(comparisons: Mapping[K, Comparison]) -> dict[K, Comparison]:
    """The comparisons with p-values Holm-corrected over all their measures together."""
    names = list(comparisons)
    p = holm(
        {
            f"{number}/{measure}": gap.difference.p
            for number, name in enumerate(names)
            for measure, gap in comparisons[name].gaps.items()
        }
    )
    return {
        name: comparisons[name]._replace(
            gaps={
                measure: Gap(gap.metric, gap.difference._replace(p=p[f"{number}/{measure}"]))
                for measure, gap in comparisons[name].gaps.items()
            }
        )
        for number, name in enumerate(names)
    }
