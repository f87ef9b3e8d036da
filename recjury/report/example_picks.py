"""Choose the conversations of a system that are shown: the best, the worst, and some between."""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.results import Measure
from recjury.results.scores import ConversationScores, headline, sums_up


class ExamplePick(NamedTuple):
    """A conversation to show, and what it represents ("median of 40")."""

    conversation: str
    stands_for: str


class _Ranked(NamedTuple):
    score: float
    conversation: str


def share(measure: Measure, value: float) -> float:
    """The position of a value between the worst (0) and the best (1) of a scale with both ends."""
    metric = measure.metric
    assert metric.high is not None
    share = (value - metric.low) / (metric.high - metric.low)
    return share if metric.higher_is_better else 1 - share


class ExamplePicker:
    """A system's conversations by the headline if it is scored, otherwise by all scales' mean."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        """No conversation has been added yet; `measures` are those that may have a score."""
        self._bounded = [each for each in measures if each.metric.high is not None]
        wide = headline(self._bounded)
        self._headline = wide if wide and sums_up(wide.metric) else None
        self._ranked: dict[str, list[_Ranked]] = {"headline": [], "mean": [], "": []}

    def add(self, scores: ConversationScores) -> None:
        """Add one conversation to the ranking."""
        first = None if self._headline is None else scores.value(self._headline.id)
        if first is not None:
            by, score = "headline", first
        else:
            values = scores.values
            shares = [share(m, values[m.id]) for m in self._bounded if m.id in values]
            by, score = ("mean", fmean(shares)) if shares else ("", 0.0)
        self._ranked[by].append(_Ranked(score, scores.conversation))

    def choose(self, count: int) -> tuple[ExamplePick, ...]:
        """At most `count` different conversations, evenly spread from the best to the worst.

        A count of 1 gives the median; 3 gives the best, the median and the worst.
        """
        by = next((by for by, ranked in self._ranked.items() if ranked), "")
        ranked = sorted(self._ranked[by], reverse=True)
        count = min(count, len(ranked))
        if count == 0:
            return ()
        last = len(ranked) - 1
        places = [0.5] if count == 1 else [place / (count - 1) for place in range(count)]
        return tuple(
            ExamplePick(
                ranked[round(place * last)].conversation, self._stands_for(place, len(ranked), by)
            )
            for place in places
        )

    def _stands_for(self, place: float, of: int, by: str) -> str:
        if not by:
            return f"one of {of}, none of them scored"
        if by == "headline":
            assert self._headline is not None
            by = self._headline.metric.title.lower()
        else:
            by = "mean score"
        names = {0.0: "best", 0.5: "median", 1.0: "worst"}
        said = names.get(place, f"{round(100 * (1 - place))}th percentile")
        return f"{said} of {of} by {by}" if of > 1 else "the only one"
