"""Two systems, or two evaluators, against each other: a difference of each metric."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from recjury.errors import StoreError
from recjury.records import JSON, Metric
from recjury.results.choice import newest_first, unknown
from recjury.results.scores import is_newest, measures_of, scores_of
from recjury.results.summary import Tally
from recjury.stats import Difference, holm, paired, unpaired
from recjury.store import CampaignEvaluator, Store

K = TypeVar("K", bound=Hashable)


class Gap(NamedTuple):
    """A metric's difference, A minus B. A metric that is a detail is not tested: it has no p."""

    metric: Metric
    difference: Difference


class Comparison(NamedTuple):
    """A minus B by measure; p-values are Holm-corrected over all measures that have one.

    `pairs` counts the scenarios that both systems met. Without any, the groups are
    compared unpaired and `is_paired` is False.
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
    """A system in a campaign: all that it scored there."""

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
    """Compare two systems of a campaign, by default of the newest in which both have a score.

    Where none has both, the newest campaign of each is taken, with what the same versions of
    evaluators rated in both. `metrics` ("core.overall") restricts what is compared. A metric
    counts where both systems have a score of it. Raises StoreError for a system that the store
    does not have, for one without any score yet, and for systems that were evaluated unlike.
    """
    first, second = _sides(store, a, b, [campaign] if campaign else newest_first(store))
    shared = _shared(store.evaluators(first.campaign), store.evaluators(second.campaign))
    if not shared:
        raise StoreError(
            f"{a} (campaign {first.campaign}) and {b} (campaign {second.campaign}) were not "
            "evaluated alike, and no campaign has both: run or judge both with the same evaluators"
        )
    chosen = _only(shared, metrics)
    return corrected({"": compare_tallies(first.tally, second.tally, chosen, seed=seed)})[""]


def _sides(store: Store, a: str, b: str, campaigns: Iterable[str]) -> tuple[_Side, _Side]:
    """The newest of `campaigns` in which both systems were scored alike, or else that of each."""
    known: set[str] = set()
    newest: dict[str, _Side] = {}
    for campaign in campaigns:
        here = {each.system for each in store.conversations(campaign)}
        known |= here
        sides = {
            name: _Side(campaign, _tally(store, campaign, name)) for name in {a, b} if name in here
        }
        scored = {name: side for name, side in sides.items() if side.tally.measured}
        if scored.keys() == {a, b} and scored[a].tally.measured & scored[b].tally.measured:
            return scored[a], scored[b]
        newest = scored | newest
    for name in (a, b):
        if name not in known:
            raise unknown("system", name, known)
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


def _only(measures: Sequence[Compared], metrics: Sequence[str]) -> tuple[Compared, ...]:
    by_id = {measure.a: measure for measure in measures}
    for metric in metrics:
        if metric not in by_id:
            raise unknown("metric", metric, by_id)
    return tuple(by_id[metric] for metric in metrics or by_id)


def newest_measures(evaluators: Sequence[CampaignEvaluator]) -> tuple[Compared, ...]:
    """What systems of one campaign are compared on."""
    measures = measures_of(filter(is_newest, evaluators))
    return tuple(Compared(each.id, each.id, each.metric) for each in measures)


def compare_tallies(
    a: Tally, b: Tally, measures: Iterable[Compared], *, seed: int = 0
) -> Comparison:
    """Compare two systems' scores. The p-values are as tested: see `corrected`."""
    pairs = len(a.pairs & b.pairs)
    gaps: dict[str, Gap] = {}
    for measure in measures:
        first, second = a.by_pair(measure.a), b.by_pair(measure.b)
        if pairs:
            both = [pair for pair in first if pair in second]
            gap = paired([first[p] for p in both], [second[p] for p in both], seed=seed)
        else:
            gap = unpaired(list(first.values()), list(second.values()), seed=seed)
        gaps[measure.a] = Gap(
            measure.metric, gap._replace(p=None) if measure.metric.detail else gap
        )
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
