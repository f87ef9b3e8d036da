"""How often all repeats of a scenario are good."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import NamedTuple

from recjury.records import Metric
from recjury.results.scores import scores_of
from recjury.store import ConversationResult


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
