"""Two systems compared over the trials of a store, scenario by scenario."""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import NamedTuple, TypeVar

from recjury.errors import StoreError
from recjury.records import JSON, PERSUASIVENESS, Factor
from recjury.report.choice import Sides, campaigns_to_compare, unknown_system
from recjury.report.scores import COMPARED, OVERALL, TrialScores, recall, scored, scores_of
from recjury.stats import Difference, holm, paired, summarise, unpaired
from recjury.store import Store

K = TypeVar("K", bound=Hashable)


class Comparison(NamedTuple):
    """A minus B, per measure; p-values are Holm-corrected over all measures that have one.

    `pairs` counts the scenarios that both systems met. Without any, the groups are
    compared unpaired and `is_paired` is False.
    """

    pairs: int
    is_paired: bool
    measures: dict[str, Difference]

    def as_json(self) -> dict[str, JSON]:
        """The stable keys of `recjury compare --json`."""
        shown = {name: _as_json(gap) for name, gap in self.measures.items()}
        return {
            "pairs": self.pairs,
            "paired": self.is_paired,
            "factors": {factor.value: shown[factor.value] for factor in Factor},
            "overall": shown[OVERALL],
            "persuasiveness": shown[PERSUASIVENESS],
            "recall_at_10": shown[recall(10)],
        }


class Sample:
    """One system's scores by scenario, collected one trial at a time."""

    def __init__(self) -> None:
        """Nothing collected yet."""
        self._met: dict[str, list[dict[str, float]]] = defaultdict(list)

    def add(self, scores: TrialScores) -> None:
        """Collect a trial's scores; one without any (no log) says nothing and is left out."""
        found = dict(scored(scores, COMPARED))
        if found:
            self._met[scores.pair].append(found)

    def values(self) -> dict[str, dict[str, float]]:
        """Scores by pair: the mean where the system met the same pair several times.

        Repeats of a scenario are no further scenarios: counted apart, they would make intervals
        and p-values smaller than what was tried can bear.
        """
        return {key: met[0] if len(met) == 1 else _means(met) for key, met in self._met.items()}

    def column(self, name: str) -> list[float]:
        """All scores of one measure."""
        return [scores[name] for scores in self.values().values() if name in scores]


def compare_systems(
    store: Store, a: str, b: str, *, campaign: str | None = None, seed: int = 0
) -> Comparison:
    """Compare two systems of a campaign, by default of the newest that has both.

    Where none has both, the newest campaign of each is taken, if they were rated alike. A
    measure counts where both systems have a score for it. Raises StoreError for a system that the
    store does not have, for one without any score yet, and for systems rated unlike.
    """
    sides = Sides(campaign, campaign) if campaign else campaigns_to_compare(store, a, b)
    first, second = _sample(store, sides.a, a), _sample(store, sides.b, b)
    return corrected({"": compare_samples(first, second, seed=seed)})[""]


def _sample(store: Store, campaign: str, system: str) -> Sample:
    sample, trials = Sample(), 0
    for outcome in store.outcomes(campaign, system):
        sample.add(scores_of(outcome))
        trials += 1
    if not trials:
        raise StoreError(unknown_system(store, campaign, system))
    if not sample.values():
        raise StoreError(f"{system} has no score yet: there is nothing to compare")
    return sample


def compare_samples(a: Sample, b: Sample, *, seed: int = 0) -> Comparison:
    """Compare two systems' scores. The p-values are as tested: see `corrected`."""
    first, second = a.values(), b.values()
    shared = [key for key in first if key in second]
    if not shared:
        gaps = {name: unpaired(a.column(name), b.column(name), seed=seed) for name in COMPARED}
        return Comparison(0, False, gaps)
    gaps = {}
    for name in COMPARED:
        both = [key for key in shared if name in first[key] and name in second[key]]
        left, right = ([values[key][name] for key in both] for values in (first, second))
        gaps[name] = paired(left, right, seed=seed)
    return Comparison(len(shared), True, gaps)


def corrected(comparisons: Mapping[K, Comparison]) -> dict[K, Comparison]:
    """The comparisons with p-values Holm-corrected over all their measures together."""
    names = list(comparisons)
    raw = {
        f"{number}/{measure}": gap.p
        for number, name in enumerate(names)
        for measure, gap in comparisons[name].measures.items()
    }
    p = holm(raw)
    return {
        name: comparisons[name]._replace(
            measures={
                measure: gap._replace(p=p[f"{number}/{measure}"])
                for measure, gap in comparisons[name].measures.items()
            }
        )
        for number, name in enumerate(names)
    }


def _means(several: list[dict[str, float]]) -> dict[str, float]:
    means = {name: summarise(scores.get(name) for scores in several).mean for name in COMPARED}
    return {name: mean for name, mean in means.items() if mean is not None}


def _as_json(gap: Difference) -> dict[str, JSON]:
    return {
        "difference": gap.difference,
        "low": gap.low,
        "high": gap.high,
        "p": gap.p,
        "n": gap.n,
    }
