"""The differences of systems on each metric, from their scores, with corrected p-values."""

from collections.abc import Collection, Container, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from recjury.records import JSON, Metric
from recjury.results.caveats import Caveat, about_power
from recjury.results.losses import WorstCase
from recjury.results.noise import NoiseFloor
from recjury.results.scores import Measure, sums_up
from recjury.results.tally import Tally
from recjury.stats import MeanDifference, effects, holm, paired, unpaired

K = TypeVar("K", bound=Hashable)

COMPARED_SYSTEMS = 6
"""With at most so many systems, each pair is compared; with more, each system with the best."""


class Gap(NamedTuple):
    """A metric's difference, A minus B. A metric that is a detail is not tested and has no
    p-value.

    `equivalence` is the p-value of the test that the difference is smaller than a margin; None if
    no margin was given. `lost` has the worst cases of the means of A and B, if they lost ratings.
    """

    metric: Metric
    difference: MeanDifference
    effect: effects.Effect = effects.Effect(None, None)
    equivalence: float | None = None
    lost: tuple[WorstCase | None, WorstCase | None] = (None, None)

    def as_json(self, *, equivalence: bool) -> dict[str, JSON]:
        """The difference with interval and p-value, and the effect size."""
        own: dict[str, JSON] = {
            **self.difference._asdict(),
            "effect_size": self.effect.d,
            "sd": self.effect.sd,
        }
        for side, worst in zip("ab", self.lost, strict=True):
            own |= {} if worst is None else {side: worst.as_json()}
        return own | ({"equivalence_p": self.equivalence} if equivalence else {})


class Comparison(NamedTuple):
    """A minus B by measure; p-values are Holm-corrected, see `corrected`.

    Measures that sum up a conversation come first. The smallest p-value of a measure is that of the
    strictest correction, which the smallest of all p-values has: if none of them is below .05, no
    difference can be shown.
    `pairs` counts the scenarios that both systems met. If there are none, the groups are compared
    unpaired and `is_paired` is False. `alone` counts the scenarios that only one of them met, which
    do not count in a paired comparison. `margin` is that of the tests of equivalence. `noise` has
    the noise floors by measure; a scenario was played `repeats` times in the mean.
    """

    pairs: int
    is_paired: bool
    gaps: dict[str, Gap]
    alone: int = 0
    margin: float | None = None
    caveats: tuple[Caveat, ...] = ()
    noise: Mapping[str, NoiseFloor] = MappingProxyType({})
    repeats: float = 1.0

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
        if pairs:
            x, y = a.both(measure.a, b, measure.b)
        else:
            x, y = a.means(measure.a), b.means(measure.b)
        differ = paired if pairs else unpaired
        gap = Gap(measure.metric, differ(x, y, seed=seed, tested=not measure.metric.detail))
        gap = gap._replace(
            effect=(effects.paired_effect if pairs else effects.unpaired_effect)(x, y),
            lost=(a.worst_case(measure.a), b.worst_case(measure.b)),
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


def about_tests(comparisons: Collection[Comparison], leads: Container[str]) -> list[Caveat]:
    """Whether there are too few pairs for a test, or for any p-value below .05."""
    gaps = [gap for each in comparisons for gap in each.gaps.values() if not gap.metric.detail]
    if max((gap.difference.n for gap in gaps), default=0) == 1:
        return [
            Caveat(
                "One scenario is too few for a test",
                "A difference in one scenario says nothing about others: play more scenarios.",
            )
        ]
    return about_power(*tested_families(comparisons, leads))
