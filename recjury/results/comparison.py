"""Compare systems of a store, two by two, by the evaluators that rated both."""

from collections.abc import Collection, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

from recjury.errors import StoreError
from recjury.results.caveats import about_scores
from recjury.results.differences import (
    Compared,
    Comparison,
    about_tests,
    compare_tallies,
    corrected,
)
from recjury.results.noise import noise_of
from recjury.results.scores import headline, is_newest, measures_of, of_lists, scores_of
from recjury.results.tally import Tally
from recjury.store import CampaignEvaluator, Selection, Store
from recjury.store.choice import candidates, require

_ALL = Selection()


class _Side(NamedTuple):
    """A system in a campaign, with all its scores there."""

    campaign: str
    tally: Tally


class ComparisonOptions(NamedTuple):
    """What is compared, and how.

    `metrics` ("core.overall") restricts what is compared; `margin` asks for tests of equivalence.
    With `force`, systems are compared that met no scenario together, and metrics that versions of
    one evaluator rated which differ. `selection` says which conversations are compared.
    """

    metrics: Sequence[str] = ()
    margin: float | None = None
    force: bool = False
    seed: int = 0
    selection: Selection = _ALL


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
    reading = _Reading(store, frozenset(names), options.selection)
    matches = {
        (a, b): _match(reading, a, b, campaign, options)
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
    caveats = (*about_scores(tallies, metrics), *about_tests(found.values(), leads))
    own = tallies.values()
    noise = noise_of([each.repeats for each in own], [each.judgings for each in own])
    repeats = sum(each.conversations for each in own) / sum(each.scenarios for each in own)
    return {
        pair: each._replace(caveats=caveats, noise=noise, repeats=repeats)
        for pair, each in found.items()
    }


class _Match(NamedTuple):
    """The scores of two systems, the measures on which they are compared, and the headline's id."""

    a: Tally
    b: Tally
    measures: tuple[Compared, ...]
    lead: str


class _Reading:
    """The scores of some systems, which are read once for all pairs of them."""

    def __init__(self, store: Store, names: frozenset[str], selection: Selection) -> None:
        self.store, self.selection, self._names = store, selection, names
        self._known: dict[str, dict[str, Tally]] = {}
        self.systems = cache(store.systems)

    def tallies(self, campaign: str) -> dict[str, Tally]:
        """Those in a campaign that has them."""
        if campaign not in self._known:
            here = self._names & self.systems(campaign)
            self._known[campaign] = _tallies(self.store, campaign, here, self.selection)
        return self._known[campaign]


def _match(
    reading: _Reading, a: str, b: str, campaign: str | None, options: ComparisonOptions
) -> _Match:
    store = reading.store
    first, second = _sides(reading, a, b, campaign)
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


def _sides(reading: _Reading, a: str, b: str, campaign: str | None) -> tuple[_Side, _Side]:
    """The newest campaign in which both have comparable scores, otherwise the newest of each."""
    store, known = reading.store, set[str]()
    newest: dict[str, _Side] = {}
    for chosen in candidates(store, campaign):
        known |= reading.systems(chosen)
        tallies = reading.tallies(chosen)
        sides = {name: _Side(chosen, tallies[name]) for name in {a, b} & tallies.keys()}
        scored = {name: side for name, side in sides.items() if side.tally.measured}
        if scored.keys() == {a, b}:
            alike = scored[a].tally.measured & scored[b].tally.measured
            if alike & {each.a for each in newest_measures(store.evaluators(chosen))}:
                return scored[a], scored[b]
        newest = scored | newest
    require("system", (a, b), known)
    for name in (a, b):
        if name not in newest:
            where = "yet" if reading.selection == _ALL else "among the selected conversations"
            raise StoreError(f"{name} has no score {where}: there is nothing to compare")
    return newest[a], newest[b]


def tally_of(store: Store, campaign: str, system: str) -> Tally:
    """The scores of a system in a campaign."""
    return _tallies(store, campaign, {system}, _ALL)[system]


def _tallies(
    store: Store, campaign: str, systems: Collection[str], selection: Selection
) -> dict[str, Tally]:
    lists = of_lists(measures_of(store.evaluators(campaign)))
    tallies = {name: Tally(lists) for name in systems}
    ids = store.selected(campaign, selection)
    alone = next(iter(systems)) if len(systems) == 1 else None
    for result in store.results(campaign, alone, ids, whole=False) if systems else ():
        if result.system in tallies:
            tallies[result.system].add(scores_of(result))
    return tallies


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
