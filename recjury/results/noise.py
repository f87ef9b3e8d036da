"""What repeats show: the noise floor of scores, and how often all repeats are good."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, variance
from typing import NamedTuple

from recjury.records import JSON, Metric
from recjury.results.scores import scores_of
from recjury.store import ConversationResult

_SIDES = 1.96  # normal quantile of a 95 % interval


class NoiseFloor(NamedTuple):
    """The standard deviation of a score where nothing was changed.

    `repeat_sd` is that of a conversation's score between repeats of its scenario with the same
    system (over `repeats` degrees of freedom), `judge_sd` that of the score of one conversation
    between judgings (over `judgings`). Each is None if nothing was repeated. `judged` is how often
    a conversation was judged, in the mean.
    """

    repeat_sd: float | None
    repeats: int
    judge_sd: float | None
    judgings: int
    judged: float = 1.0

    def floor(self, scenarios: int, each: float) -> float | None:
        """By how much (95 %) the mean over scenarios differs if the same system is run again.

        `each` is the mean number of repeats of a scenario. From judgings alone, where nothing was
        repeated: then conversations would add to it.
        """
        sd = self.repeat_sd
        if sd is None and self.judge_sd is not None:
            sd = self.judge_sd / math.sqrt(self.judged)  # a score is the mean of all judgings
        if sd is None or not scenarios:
            return None
        return _SIDES * sd * math.sqrt(2 / (scenarios * each))

    def as_json(self) -> dict[str, JSON]:
        """All five numbers."""
        return dict(self._asdict())


def noise_of(
    repeats: Iterable[Mapping[str, Iterable[Sequence[float]]]],
    judgings: Sequence[Mapping[str, Sequence[Sequence[float]]]],
) -> dict[str, NoiseFloor]:
    """By measure, for measures of which anything was repeated.

    `repeats` has, for each system and measure, the scores of each scenario, and `judgings` those
    of each conversation.
    """
    by_measure: dict[str, list[Sequence[float]]] = defaultdict(list)
    for system in repeats:
        for measure, by_scenario in system.items():
            by_measure[measure] += by_scenario
    found: dict[str, NoiseFloor] = {}
    for measure, scenarios in by_measure.items():
        repeat_sd, of_repeats = _pooled(scenarios)
        again = [scores for each in judgings for scores in each.get(measure, ())]
        judge_sd, of_judgings = _pooled(again)
        if of_repeats or of_judgings:
            judged = sum(map(len, again)) / len(again) if again else 1.0
            found[measure] = NoiseFloor(repeat_sd, of_repeats, judge_sd, of_judgings, judged)
    return found


def noise_source(noise: Iterable[NoiseFloor]) -> str:
    """What the noise floors are from, in words."""
    return "repeats" if any(each.repeats for each in noise) else "judgings alone"


def _pooled(groups: Iterable[Sequence[float]]) -> tuple[float | None, int]:
    """The standard deviation within groups, and its degrees of freedom."""
    several = [group for group in groups if len(group) > 1]
    freedom = sum(len(group) - 1 for group in several)
    if not freedom:
        return None, 0
    return math.sqrt(sum((len(g) - 1) * variance(g) for g in several) / freedom), freedom


class PassRate(NamedTuple):
    """How likely `k` repeats of a scenario are all good, as the mean over `scenarios`."""

    k: int
    rate: float
    scenarios: int


def pass_rates(
    results: Iterable[ConversationResult], measure: str, metric: Metric, threshold: float
) -> dict[str, tuple[PassRate, ...]]:
    """By system: pass^k for each k, without bias from few repeats (Yao et al. 2024, tau-bench).

    A conversation is good if its score is at least `threshold` (at most, if lower is better). One
    that failed or has no score is not good.
    """
    good: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        scores = scores_of(result)
        value = scores.values.get(measure)
        reached = value is not None and (
            value >= threshold if metric.higher_is_better else value <= threshold
        )
        good[result.system][scores.pair].append(reached)
    return {system: _rates(own) for system, own in good.items()}


def _rates(by_scenario: Mapping[str, list[bool]]) -> tuple[PassRate, ...]:
    several = [(len(each), sum(each)) for each in by_scenario.values()]
    found: list[PassRate] = []
    for k in range(1, max(number for number, _ in several) + 1):
        rates = [math.comb(c, k) / math.comb(n, k) for n, c in several if n >= k]
        found.append(PassRate(k, fmean(rates), len(rates)))
    return tuple(found)
