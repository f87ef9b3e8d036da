"""Compare systems, two by two: the difference on each metric."""

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

from recjury.errors import StoreError
from recjury.records import JSON, Metric
from recjury.results.caveats import Caveat, about_power, about_scores
from recjury.results.scores import (
    Measure,
    headline,
    is_newest,
    measures_of,
    of_lists,
    scores_of,
    sums_up,
)
from recjury.results.summary import Tally
from recjury.stats import MeanDifference, effects, holm, paired, unpaired
from recjury.store import CampaignEvaluator, Store
from recjury.store.choice import candidates, require

K = TypeVar("K", bound=Hashable)

COMPARED_SYSTEMS = 6
"""With at most so many systems, each pair is compared; with more, each system with the best."""


class Gap(NamedTuple):
    """A metric's difference, A minus B. A metric that is a detail is not tested and has no
    p-value.

    `equivalence` is the p-value of the test that the difference is smaller than a margin; None if
    no margin was given.
    """

    metric: Metric
    difference: MeanDifference
    effect: effects.Effect = effects.Effect(None, None)
    equivalence: float | None = None

    @classmethod
    def of(cls, metric: Metric, difference: MeanDifference) -> "Gap":
        """The difference of a metric, without a p-value if the metric is a detail."""
        untested = difference._replace(p=None, smallest_p=None)
        return cls(metric, untested if metric.detail else difference)

    def as_json(self, *, equivalence: bool) -> dict[str, JSON]:
        """The difference with interval and p-value, and the effect size."""
        own: dict[str, JSON] = {
            **self.difference._asdict(),
            "effect_size": self.effect.d,
            "sd": self.effect.sd,
        }
        return own | ({"equivalence_p": self.equivalence} if equivalence else {})


class Comparison(NamedTuple):
    """A minus B by measure; p-values are Holm-corrected, see `corrected`.

    Measures that sum up a conversation come first. The smallest p-value of a measure is that of the
    strictest correction, which the smallest of all p-values has: if none of them is below .05, no
    difference can be shown.
    `pairs` counts the scenarios that both systems met. If there are none, the groups are compared
    unpaired and `is_paired` is False. `alone` counts the scenarios that only one of them met, which
    do not count in a paired comparison. `margin` is that of the tests of equivalence.
    """

    pairs: int
    is_paired: bool
    gaps: dict[str, Gap]
    alone: int = 0
    margin: float | None = None
    caveats: tuple[Caveat, ...] = ()

    def as_json(self) -> dict[str, JSON]:
        """The stable keys of `recjury compare --json`."""
        tested = self.margin is not None
        shown = {name: gap.as_json(equivalence=tested) for name, gap in self.gaps.items()}
        found = {"pairs": self.pairs, "paired": self.is_paired, "alone": self.alone}
        margin = {"margin": self.margin} if tested else {}
        caveats = [each._asdict() for each in self.caveats]
        return {**found, "metrics": shown, **margin, "caveats": caveats}


class Compared(NamedTuple):
    """A metric under the ids that it has on both sides."""

    a: str
    b: str
    metric: Metric


class _Side(NamedTuple):
    """A system in a campaign, with all its scores there."""

    campaign: str
    tally: Tally


class ComparisonOptions(NamedTuple):
    """What is compared, and how.

    `metrics` ("core.overall") restricts what is compared; `margin` asks for tests of equivalence.
    With `force`, systems are compared that met no scenario together, and metrics that versions of
    one evaluator rated which differ.
    """

    metrics: Sequence[str] = ()
    margin: float | None = None
    force: bool = False
    seed: int = 0


def compare_systems(
    store: Store,
    a: str,
    b: str,
    *,
    campaign: str | None = None,
    options: ComparisonOptions = ComparisonOptions(),  # noqa: B008 (immutable)
) -> Comparison:
    """Compare two systems of a campaign.

    Without `campaign`, the newest campaign is taken in which both have a score of the same metric
    by the newest version of an evaluator. If there is none, the newest campaign of each system is
    taken, with the ratings by the same versions of evaluators. A metric is compared if both systems
    have a score of it. Raises StoreError for an unknown system, for one without any score, and,
    unless forced, for systems without a scenario in common, or without a score of the same metric
    by the same version of an evaluator.
    """
    return compare_all(store, (a, b), campaign=campaign, options=options)[a, b]


def compare_all(
    store: Store,
    names: Sequence[str],
    *,
    campaign: str | None = None,
    options: ComparisonOptions = ComparisonOptions(),  # noqa: B008 (immutable)
) -> dict[tuple[str, str], Comparison]:
    """Compare each two systems, as `compare_systems`; p-values are corrected over all pairs."""
    matches = {
        (a, b): _match(store, a, b, campaign, options)
        for a, b in combinations(dict.fromkeys(names), 2)
    }
    raw = {
        pair: compare_tallies(*each[:3], seed=options.seed, margin=options.margin)
        for pair, each in matches.items()
    }
    leads = {each.lead for each in matches.values()}
    found, every = corrected(raw, leads), list(matches.items())
    tallies = {
        name: side for pair, each in every for name, side in zip(pair, each[:2], strict=True)
    }
    metrics = {one.a: one.metric for _, each in every for one in each.measures}
    caveats = (
        *about_scores(tallies, metrics),
        *about_power(*tested_families(found.values(), leads)),
    )
    return {pair: each._replace(caveats=caveats) for pair, each in found.items()}


class _Match(NamedTuple):
    """The scores of two systems, the measures on which they are compared, and the headline's id."""

    a: Tally
    b: Tally
    measures: tuple[Compared, ...]
    lead: str


def _match(
    store: Store, a: str, b: str, campaign: str | None, options: ComparisonOptions
) -> _Match:
    first, second = _sides(store, a, b, campaign)
    of_a, of_b = store.evaluators(first.campaign), store.evaluators(second.campaign)
    shared = _shared(of_a, of_b, any_version=options.force)
    if not any(m.a in first.tally.measured and m.b in second.tally.measured for m in shared):
        raise StoreError(
            f"{a} (campaign {first.campaign}) and {b} (campaign {second.campaign}) were not "
            "evaluated alike: run or judge both with the same evaluators (--force compares other "
            "versions of them)"
        )
    by_id = {measure.a: measure for measure in shared}
    require("metric", options.metrics, by_id)
    if not options.force and not first.tally.pairs & second.tally.pairs:
        raise StoreError(
            f"{a} and {b} have no scenario in common: a difference would be that of the scenarios, "
            "too (--force compares them as two groups)"
        )
    chosen = tuple(by_id[metric] for metric in options.metrics or by_id)
    lead = headline(measures_of(filter(is_newest, of_a)))
    return _Match(first.tally, second.tally, chosen, "" if lead is None else lead.id)


def _sides(store: Store, a: str, b: str, campaign: str | None) -> tuple[_Side, _Side]:
    """The newest campaign in which both have comparable scores, otherwise the newest of each."""
    known: set[str] = set()
    newest: dict[str, _Side] = {}
    for chosen in candidates(store, campaign):
        here = {each.system for each in store.conversations(chosen)}
        known |= here
        sides = {
            name: _Side(chosen, tally_of(store, chosen, name)) for name in {a, b} if name in here
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


def tally_of(store: Store, campaign: str, system: str) -> Tally:
    """All scores of a system in a campaign."""
    tally = Tally(of_lists(measures_of(store.evaluators(campaign))))
    for result in store.results(campaign, system):
        tally.add(scores_of(result))
    return tally


def _shared(
    of_a: Sequence[CampaignEvaluator], of_b: Sequence[CampaignEvaluator], *, any_version: bool
) -> tuple[Compared, ...]:
    """The metrics of the newest versions on A's side that B's side has of the same version.

    With `any_version`, those that B's side has not of the same version are taken of the newest.
    """
    found: dict[str, Compared] = {}
    for each in filter(is_newest, of_a):
        same = [other for other in of_b if each.id == other.id]
        newest = [other for other in of_b if each.name == other.label and any_version]
        for other in (*same, *newest):
            declared = {metric.id for metric in other.metrics}
            for metric in each.metrics:
                if metric.id in declared or each.id == other.id:
                    own = f"{each.label}.{metric.id}"
                    found.setdefault(own, Compared(own, f"{other.label}.{metric.id}", metric))
    return tuple(found.values())


def newest_measures(evaluators: Sequence[CampaignEvaluator]) -> tuple[Compared, ...]:
    """The measures on which systems of one campaign are compared."""
    measures = measures_of(filter(is_newest, evaluators))
    return tuple(Compared(each.id, each.id, each.metric) for each in measures)


def compare_tallies(
    a: Tally,
    b: Tally,
    measures: Iterable[Compared],
    *,
    seed: int = 0,
    margin: float | None = None,
) -> Comparison:
    """Compare two systems' scores. The p-values are not corrected: see `corrected`."""
    pairs = len(a.pairs & b.pairs)
    gaps: dict[str, Gap] = {}
    for measure in sorted(measures, key=lambda each: not sums_up(each.metric)):
        first, second = a.by_pair(measure.a), b.by_pair(measure.b)
        both = [pair for pair in first if pair in second]
        x = [first[p] for p in both] if pairs else list(first.values())
        y = [second[p] for p in both] if pairs else list(second.values())
        gap = Gap.of(measure.metric, (paired if pairs else unpaired)(x, y, seed=seed))
        gap = gap._replace(
            effect=(effects.paired_effect if pairs else effects.unpaired_effect)(x, y)
        )
        if margin is not None and not measure.metric.detail:
            test = effects.paired_equivalence if pairs else effects.unpaired_equivalence
            gap = gap._replace(equivalence=test(x, y, margin))
        gaps[measure.a] = gap
    return Comparison(pairs, pairs > 0, gaps, len(a.pairs ^ b.pairs), margin)


def ranked(tallies: Mapping[str, Tally], lead: Measure) -> list[str]:
    """The systems that have a score of `lead`, the best one first."""
    means = {name: tally.summary(lead.id).mean for name, tally in tallies.items()}
    known = {name: mean for name, mean in means.items() if mean is not None}
    return sorted(known, key=known.__getitem__, reverse=lead.metric.higher_is_better)


def compare_campaign(
    tallies: Mapping[str, Tally], lead: Measure | None, measures: Sequence[Compared]
) -> dict[tuple[str, str], Comparison]:
    """Each two systems that have a score, in their order, corrected over all.

    Of more than six systems, the best by `lead` is compared with each other.
    """
    scored = {name: tally for name, tally in tallies.items() if tally.measured}
    pairs = list(combinations(scored, 2))
    if len(scored) > COMPARED_SYSTEMS and lead is not None:
        best = next(iter(ranked(scored, lead)), next(iter(scored)))
        pairs = [(best, other) for other in scored if other != best]
    raw = {(a, b): compare_tallies(scored[a], scored[b], measures) for a, b in pairs}
    return corrected(raw, {lead.id} if lead else ())


def corrected(
    comparisons: Mapping[K, Comparison], leads: Container[str] = ()
) -> dict[K, Comparison]:
    """The comparisons with Holm-corrected p-values, over two families of tests.

    One family is that of the measures in `leads`, by which readers decide; the other has all other
    measures. So the difference of two systems on the headline has one p-value, whichever other
    metrics are tested with it. Tests of equivalence are corrected on their own, in the same way.
    """
    found = {name: each._replace(gaps=dict(each.gaps)) for name, each in comparisons.items()}
    for leading in (True, False):
        family = {
            (name, measure): gap
            for name, each in comparisons.items()
            for measure, gap in each.gaps.items()
            if (measure in leads) == leading
        }
        p = holm({key: gap.difference.p for key, gap in family.items()})
        alike = holm({key: gap.equivalence for key, gap in family.items()})
        tests = sum(each is not None for each in p.values())
        for key, gap in family.items():
            name, measure = key
            smallest = gap.difference.smallest_p
            most = None if smallest is None else min(1.0, smallest * tests)
            difference = gap.difference._replace(p=p[key], smallest_p=most)
            found[name].gaps[measure] = gap._replace(difference=difference, equivalence=alike[key])
    return found


class TestedFamilies(NamedTuple):
    """The differences that have a p-value, by the family in which they are corrected."""

    lead: list[MeanDifference]
    others: list[MeanDifference]


def tested_families(comparisons: Iterable[Comparison], leads: Container[str]) -> TestedFamilies:
    """The tests of some comparisons."""
    families = TestedFamilies([], [])
    for comparison in comparisons:
        for measure, gap in comparison.gaps.items():
            if gap.difference.p is not None:
                (families.lead if measure in leads else families.others).append(gap.difference)
    return families
