"""A system's scores, added up one conversation at a time; numbers alone stay in memory."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from itertools import chain
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.records import Status
from recjury.results.losses import LEAST_SHOWN, Ends, WorstCase
from recjury.results.noise import NoiseFloor
from recjury.results.scores import ConversationScores, RatedBy, ScoreForm
from recjury.stats.resampling import Interval, interval_of_mean, intervals_of_means

_Floats = NDArray[np.float64]
_Places = NDArray[np.int64]


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


class _Alike:
    """The conversations that have one form, and all their scores, one after the other.

    `places` are those of their scenarios; `numbers` say which conversations of the system they are.
    """

    def __init__(self, form: ScoreForm) -> None:
        self.form = form
        self.places, self.numbers, self.scores = array("q"), array("q"), array("d")

    def rows(self) -> _Floats:
        """The scores of each conversation: [conversations, ratings]."""
        return np.frombuffer(self.scores).reshape(len(self.places), -1)

    def values(self, measure: str) -> _Floats:
        """The value of a measure, which all these conversations have."""
        rows = self.rows()
        if (place := self.form.only.get(measure)) is not None:
            return rows[:, place]
        return np.array([self.form.value(measure, row) for row in rows.tolist()])

    def ends(self, measure: str) -> Ends:
        """Between which values a measure is that should have a score in all these conversations."""
        places = np.frombuffer(self.places, np.int64)
        if measure not in self.form.lost:
            return Ends(places, *[self.values(measure)] * 2)
        rows = self.rows().tolist()
        low, high = (
            np.array([self.form.if_lost_were(end, measure, row) for row in rows])
            for end in self.form.scales[measure]
        )
        return Ends(places, low, high)


class MeasureScores(NamedTuple):
    """The scenarios that have a score of a measure, by their places, with the mean over repeats.

    They are in the order in which they were first scored. `repeated` are the scores of those that
    have several, and `n` counts the conversations.
    """

    places: _Places
    means: _Floats
    repeated: list[list[float]]
    n: int


class Tally:
    """Adds up one system's conversations, one at a time.

    `lost` are the places of the scenarios of conversations that count as lost ratings.
    `of_lists` are the ids of measures that need a recommendation list. A conversation without a
    list has a score of them (its Recall is 0) only if the system lists items in another one: a
    system that never lists was not measured by its lists.
    """

    def __init__(self, of_lists: Container[str] = ()) -> None:
        """Nothing has been counted yet."""
        self.conversations = 0
        self.failed = 0
        self.lost: list[int] = []
        self.has_lists = False
        self._of_lists = of_lists
        self._places: dict[str, int] = {}
        self._alike: dict[ScoreForm, _Alike] = {}
        self._known: dict[str, MeasureScores] = {}
        self._orders: dict[tuple[_Alike, ...], tuple[_Places, _Places, bool]] = {}
        self._worst: dict[str, WorstCase | None] = {}
        self._met: dict[Tally, tuple[tuple[int, int], _Places]] = {}

    def add(self, scores: ConversationScores) -> None:
        """Count one conversation."""
        alike = self._alike.get(scores.form)
        if alike is None:
            alike = self._alike[scores.form] = _Alike(scores.form)
        place = self._places.setdefault(scores.pair, len(self._places))
        alike.places.append(place)
        alike.numbers.append(self.conversations)
        alike.scores.extend(scores.scores)
        self.conversations += 1
        self.failed += scores.failed
        if scores.is_lost:
            self.lost.append(place)
        self.has_lists |= scores.has_list
        if self._known or self._worst:
            self._known, self._worst, self._orders = {}, {}, {}

    @property
    def given(self) -> dict[RatedBy, Counter[float]]:
        """How often each rater gave each score."""
        found: dict[RatedBy, Counter[float]] = defaultdict(Counter)
        for form, alike in self._alike.items():
            rows = alike.rows()
            for rated, places in form.given.items():
                found[rated].update(rows[:, places].ravel().tolist())
        return found

    def _measures(self) -> Iterable[str]:
        """The measures with any score, in the order in which they were met."""
        return dict.fromkeys(chain.from_iterable(form.means for form in self._alike))

    @property
    def repeats(self) -> dict[str, list[list[float]]]:
        """By measure, the scores of each scenario that has several."""
        found = {measure: self.scored(measure) for measure in self._measures()}
        return {measure: scored.repeated for measure, scored in found.items() if scored.n}

    @property
    def judgings(self) -> dict[str, list[list[float]]]:
        """By measure, the scores of each conversation that one evaluator judged more than once."""
        found: dict[str, list[list[float]]] = defaultdict(list)
        for form, alike in self._alike.items():
            for measure in form.means:
                if len(form.judged[measure]) > 1:
                    found[measure] += (
                        form.by_judging(measure, row) for row in alike.rows().tolist()
                    )
        return found

    @property
    def scenarios(self) -> int:
        """How many scenarios were met, with a score or without."""
        return len(self._places)

    @property
    def measured(self) -> frozenset[str]:
        """The ids of the measures that have any score."""
        return frozenset(each for each in self._measures() if self.scored(each).n)

    @property
    def pairs(self) -> frozenset[str]:
        """The scenarios that have any score, as they are paired."""
        names = list(self._places)
        some = [alike for form, alike in self._alike.items() if form.means]
        return frozenset(names[place] for place in {p for each in some for p in each.places})

    def by_pair(self, measure: str) -> dict[str, float]:
        """Scores by scenario (pair): the mean over its repeats.

        Repeats are not counted as further scenarios: intervals and p-values would be too small.
        """
        names, scored = list(self._places), self.scored(measure)
        return {
            names[place]: mean
            for place, mean in zip(scored.places.tolist(), scored.means.tolist(), strict=True)
        }

    def both(self, measure: str, other: "Tally", its: str) -> tuple[list[float], list[float]]:
        """The scores of the scenarios that this system has of `measure`, and the other of `its`."""
        own, theirs = self.scored(measure), other.scored(its)
        at = np.full(len(other._places) + 1, -1)  # the last one for scenarios that it has not met
        at[theirs.places] = np.arange(len(theirs.places))
        found = at[self._met_by(other)[own.places]]
        return own.means[found >= 0].tolist(), theirs.means[found[found >= 0]].tolist()

    def _met_by(self, other: "Tally") -> _Places:
        """The places of this system's scenarios in another tally, or -1."""
        sizes = (len(self._places), len(other._places))
        if other not in self._met or self._met[other][0] != sizes:
            places = [other._places.get(name, -1) for name in self._places]
            self._met[other] = (sizes, np.array(places, dtype=np.int64))
        return self._met[other][1]

    def floor(self, measure: str, noise: NoiseFloor) -> float | None:
        """How far the mean of a second run may differ (95 %); None without any score."""
        scored = self.scored(measure)
        scenarios = len(scored.places)
        return noise.floor(scenarios, scored.n / scenarios) if scenarios else None

    def interval(self, measure: str) -> Interval | None:
        """The 95 % interval of the same mean; None for fewer than two scenarios."""
        return interval_of_mean(self.means(measure))

    def summary(self, measure: str) -> MetricSummary:
        """A measure's mean over scenarios so far."""
        scored = self.scored(measure)
        if scored.n:
            return MetricSummary(
                fmean(scored.means.tolist()), scored.n, scored.n / self.conversations
            )
        missing = {form.missing[measure].status for form in self._alike if measure in form.missing}
        measured = any(measure in form.means for form in self._alike)
        nowhere = measured or missing == {Status.NOT_APPLICABLE}
        return MetricSummary(None, 0, None if nowhere else 0.0)

    def worst_case(self, measure: str) -> WorstCase | None:
        """The share of lost ratings, and the bounds of the mean; None for at most 1 %.

        A conversation that counts as lost would have had as many ratings as the others have.
        """
        if measure not in self._worst:
            self._worst[measure] = self._worst_case(measure)
        return self._worst[measure]

    def may_be_behind(self, measure: str, mean: float, *, higher_is_better: bool) -> bool:
        """Whether the worse bound of its mean is not better than this mean of another system."""
        worst = self.worst_case(measure)
        if worst is None:
            return False
        if higher_is_better:
            return worst.low is None or worst.low <= mean
        return worst.high is None or worst.high >= mean

    def _worst_case(self, measure: str) -> WorstCase | None:
        rated = [alike for form, alike in self._alike.items() if measure in form.due]
        some = [alike for alike in rated if alike.form.due[measure]]
        if not some or (measure in self._of_lists and not self.has_lists):
            return None
        due = sum(alike.form.due[measure] * len(alike.places) for alike in some)
        lost = sum(alike.form.lost.get(measure, 0) * len(alike.places) for alike in some)
        held, never = sum(len(alike.places) for alike in rated), len(self.lost)
        share = (never + held * lost / due) / (never + held)
        if share <= LEAST_SHOWN:
            return None
        low, high = (np.full(never, end) for end in some[0].form.scales[measure])
        unheld = Ends(np.array(self.lost, np.int64), low, high)
        return WorstCase.of(share, [unheld, *(alike.ends(measure) for alike in some)])

    def means(self, measure: str) -> list[float]:
        """The mean of each scenario that has a score that counts."""
        means: list[float] = self.scored(measure).means.tolist()
        return means

    def scored(self, measure: str) -> MeasureScores:
        """The scores that count."""
        if measure not in self._known:
            self._known[measure] = self._scored(measure)
        return self._known[measure]

    def _scored(self, measure: str) -> MeasureScores:
        some = [alike for form, alike in self._alike.items() if measure in form.means]
        if not some or (measure in self._of_lists and not self.has_lists):
            return MeasureScores(np.empty(0, np.int64), np.empty(0), [], 0)
        order, places, is_repeated = self._ordered(tuple(some))
        values = np.concatenate([each.values(measure) for each in some])[order]
        if not is_repeated:
            return MeasureScores(places, values, [], len(values))
        by_place: dict[int, list[float]] = {}
        for place, value in zip(places.tolist(), values.tolist(), strict=True):
            by_place.setdefault(place, []).append(value)
        means = np.array([fmean(own) if len(own) > 1 else own[0] for own in by_place.values()])
        repeated = [own for own in by_place.values() if len(own) > 1]
        return MeasureScores(np.array(list(by_place)), means, repeated, len(values))

    def _ordered(self, some: tuple[_Alike, ...]) -> tuple[_Places, _Places, bool]:
        """The order in which conversations came, their scenarios in this order, and whether any
        was repeated."""
        if some not in self._orders:
            numbers = np.concatenate([np.frombuffer(each.numbers, np.int64) for each in some])
            places = np.concatenate([np.frombuffer(each.places, np.int64) for each in some])
            order = np.argsort(numbers)
            self._orders[some] = (order, places[order], len(np.unique(places)) < len(places))
        return self._orders[some]

    def as_json(self, measures: Sequence[str]) -> dict[str, dict[str, float | None]]:
        """Each measure's mean over scenarios, its interval, `n` and its coverage.

        If more than 1 % of its ratings were lost, `lost` is their share, and `worst_low` and
        `worst_high` are the bounds of the mean with them.
        """
        found: dict[str, dict[str, float | None]] = {}
        intervals = intervals_of_means([self.means(each) for each in measures])
        for measure, interval in zip(measures, intervals, strict=True):
            mean, n, coverage = self.summary(measure)
            low, high = interval or (None, None)
            found[measure] = {"mean": mean, "low": low, "high": high, "n": n, "coverage": coverage}
            if (worst := self.worst_case(measure)) is not None:
                found[measure] |= worst.as_json()
        return found
