"""A system's scores, added up one conversation at a time; numbers alone stay in memory."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.records import Status
from recjury.results.losses import Losses, WorstCase, worst_case
from recjury.results.noise import Judgings, NoiseFloor
from recjury.results.scores import ConversationScores, RatedBy
from recjury.stats.resampling import Interval, interval_of_mean, intervals_of_means

_INAPPLICABLE = {Status.NOT_APPLICABLE}


class MetricSummary(NamedTuple):
    """A system's mean over the scenarios with a score; repeats of a scenario are averaged first.

    The interval of the mean and `compare_systems` use the same means of scenarios: if two systems
    have a score of the same scenarios, the difference of their means is the difference that is
    compared. `n` counts the conversations that have a score. `coverage` (0 to 1) is their share of
    all the system's conversations; None if the metric applies to none of them.
    """

    mean: float | None
    n: int
    coverage: float | None


class _Scores:
    """The scores of one measure, in order, each with the place of its scenario."""

    def __init__(self) -> None:
        self.places, self.values = array("q"), array("d")
        self.scenarios: dict[int, float | list[float]] | None = None

    def add(self, place: int, value: float) -> None:
        self.places.append(place)
        self.values.append(value)
        self.scenarios = None

    def by_place(self) -> dict[int, float | list[float]]:
        """The score of each scenario, or its scores if it has several."""
        if self.scenarios is None:
            found: dict[int, float | list[float]] = dict(zip(self.places, self.values, strict=True))
            if len(found) < len(self.places):
                several: dict[int, list[float]] = defaultdict(list)
                for place, value in zip(self.places, self.values, strict=True):
                    several[place].append(value)
                found = {place: s[0] if len(s) == 1 else s for place, s in several.items()}
            self.scenarios = found
        return self.scenarios


class _Lost(NamedTuple):
    """Lost ratings of a conversation, and its score by the others, if there is any."""

    place: int
    losses: Losses
    score: float | None


class Tally:
    """Adds up one system's conversations, one at a time.

    `of_lists` are the ids of measures that need a recommendation list. A conversation without a
    list has a score of them (its Recall is 0) only if the system lists items in another one: a
    system that never lists was not measured by its lists. `judgings` is filled by who reads the
    conversations.
    """

    def __init__(self, of_lists: Container[str] = ()) -> None:
        """Nothing has been counted yet."""
        self.conversations = 0
        self.failed = 0
        self.has_lists = False
        self.judgings = Judgings()
        self.given: dict[RatedBy, Counter[float]] = defaultdict(Counter)
        self._of_lists = of_lists
        self._places: dict[str, int] = {}
        self._scores: dict[str, _Scores] = defaultdict(_Scores)
        self._missing: dict[str, set[Status]] = defaultdict(set)
        self._due: Counter[str] = Counter()
        self._lost: dict[str, list[_Lost]] = defaultdict(list)

    def add(self, scores: ConversationScores) -> None:
        """Count one conversation."""
        self.conversations += 1
        self.failed += scores.failed
        self.has_lists |= scores.has_list
        place = self._places.setdefault(scores.pair, len(self._places))
        for measure, value in scores.values.items():
            self._scores[measure].add(place, value)
        for measure, missing in scores.missing.items():
            self._missing[measure].add(missing.status)
        for measure, losses in scores.losses.items():
            self._due[measure] += losses.planned
            if losses.lost:
                self._lost[measure].append(_Lost(place, losses, scores.values.get(measure)))
        for rated, values in scores.given.items():
            counts = self.given[rated]
            for value in values:
                counts[value] += 1

    @property
    def repeats(self) -> dict[str, list[list[float]]]:
        """By measure, the scores of each scenario that has several."""
        return {
            measure: [each for each in scenarios.values() if isinstance(each, list)]
            for measure in self._scores
            if (scenarios := self._scored(measure))
        }

    @property
    def scenarios(self) -> int:
        """How many scenarios were met, with a score or without."""
        return len(self._places)

    @property
    def measured(self) -> frozenset[str]:
        """The ids of the measures that have any score."""
        return frozenset(filter(self._scored, self._scores))

    @property
    def pairs(self) -> frozenset[str]:
        """The scenarios that have any score, as they are paired."""
        names = list(self._places)
        scored = {place for each in self._scores.values() for place in each.by_place()}
        return frozenset(names[place] for place in scored)

    def by_pair(self, measure: str) -> dict[str, float]:
        """Scores by scenario (pair): the mean over its repeats.

        Repeats are not counted as further scenarios: intervals and p-values would be too small.
        """
        names = list(self._places)
        return {names[place]: _mean(own) for place, own in self._scored(measure).items()}

    def floor(self, measure: str, noise: NoiseFloor) -> float | None:
        """How far the mean of a second run may differ (95 %); None without any score."""
        scenarios = len(self._scored(measure))
        n = len(self._scores[measure].values)
        return noise.floor(scenarios, n / scenarios) if scenarios else None

    def interval(self, measure: str) -> Interval | None:
        """The 95 % interval of the same mean; None for fewer than two scenarios."""
        return interval_of_mean(self._means(measure))

    def summary(self, measure: str) -> MetricSummary:
        """A measure's mean over scenarios so far."""
        means = self._means(measure)
        if not means:
            nowhere = measure in self._scores or self._missing.get(measure) == _INAPPLICABLE
            return MetricSummary(None, 0, None if nowhere else 0.0)
        n = len(self._scores[measure].values)
        return MetricSummary(fmean(means), n, n / self.conversations)

    def worst_case(self, measure: str) -> WorstCase | None:
        """The share of lost ratings, and the bounds of the mean; None for at most 1 %."""
        lost = self._lost.get(measure, [])
        if not lost:
            return None
        share = sum(each.losses.lost for each in lost) / self._due[measure]
        own = self._scores[measure]
        whole = Counter(zip(own.places, own.values, strict=True))
        # A conversation that has lost some of its ratings has a score of the others.
        whole.subtract((each.place, each.score) for each in lost if each.score is not None)
        scenarios: dict[int, list[Losses]] = defaultdict(list)
        for (place, value), times in whole.items():
            scenarios[place] += [Losses(1, 0, value, value)] * times
        for each in lost:
            scenarios[each.place].append(each.losses)
        return worst_case(scenarios.values(), share)

    def _means(self, measure: str) -> list[float]:
        return [_mean(each) for each in self._scored(measure).values()]

    def _scored(self, measure: str) -> Mapping[int, float | list[float]]:
        """The scores that count, by the scenario's place."""
        if measure not in self._scores or (measure in self._of_lists and not self.has_lists):
            return {}
        return self._scores[measure].by_place()

    def as_json(self, measures: Sequence[str]) -> dict[str, dict[str, float | None]]:
        """Each measure's mean over scenarios, its interval, `n` and its coverage.

        If more than 1 % of its ratings were lost, `lost` is their share, and `worst_low` and
        `worst_high` are the bounds of the mean with them.
        """
        found: dict[str, dict[str, float | None]] = {}
        intervals = intervals_of_means([self._means(each) for each in measures])
        for measure, interval in zip(measures, intervals, strict=True):
            mean, n, coverage = self.summary(measure)
            low, high = interval or (None, None)
            found[measure] = {"mean": mean, "low": low, "high": high, "n": n, "coverage": coverage}
            if (worst := self.worst_case(measure)) is not None:
                ends = {"worst_low": worst.low, "worst_high": worst.high}
                found[measure] |= {"lost": worst.share, **ends}
        return found


def _mean(scores: float | list[float]) -> float:
    return fmean(scores) if isinstance(scores, list) else scores
