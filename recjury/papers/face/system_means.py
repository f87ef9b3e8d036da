"""Systems ranked by their mean scores and by people's mean labels, with draws of conversations."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.records import ConversationLog, Estimate, ScoreTarget
from recjury.stats.correlation import correlate_rows
from recjury.stats.score_table import FEWEST_SYSTEMS

_Floats = NDArray[np.float64]
_DIGITS = 9  # equal means may differ in their last bits


class RankedMeans(NamedTuple):
    """The systems' mean scores and mean labels on an aspect: both [draws, systems]."""

    scores: _Floats
    labels: _Floats


class RankCorrelation(NamedTuple):
    """Pearson's r and Spearman's rho over `systems`: means over aspects, with 95 % intervals."""

    pearson: Estimate
    spearman: Estimate
    systems: int


class SystemMeans(NamedTuple):
    """Draws of conversations within each system; the first draw has each of them once.

    `systems` names the system of each of the n conversations; `weights` [draws, n] says how often
    each was drawn, and `member` [n, systems] of which system it is.
    """

    systems: Mapping[str, str]
    weights: _Floats
    member: _Floats

    @classmethod
    def drawn(cls, systems: Mapping[str, str], *, resamples: int, seed: int) -> "SystemMeans":
        """As many conversations of each system as there are, with replacement."""
        rng = np.random.default_rng(seed)
        names, numbers = np.unique(list(systems.values()), return_inverse=True)
        weights = np.ones((resamples + 1, len(systems)))
        for number in range(len(names)):
            own = np.flatnonzero(numbers == number)
            weights[1:, own] = rng.multinomial(own.size, np.full(own.size, 1 / own.size), resamples)
        return cls(systems, weights, np.eye(len(names))[numbers])

    def has(self, place: ScoreTarget) -> bool:
        """Whether the place is in one of the conversations."""
        return place.conversation in self.systems

    def of(self, values: Mapping[ScoreTarget, float]) -> _Floats:
        """The systems' means [draws, systems] of the values; nan for a system without any."""
        at = {name: number for number, name in enumerate(self.systems)}
        sums, counts = np.zeros((2, len(at)))
        for place, value in values.items():
            sums[at[place.conversation]] += value
            counts[at[place.conversation]] += 1
        total, n = (self.weights @ (self.member * each[:, None]) for each in (sums, counts))
        means: _Floats = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
        return np.round(means, _DIGITS)

    def by_system(
        self,
        logs: Mapping[str, ConversationLog],
        figure: Callable[[Sequence[ConversationLog]], float],
    ) -> _Floats:
        """A figure of each system's conversations, the same in all draws [draws, systems]."""
        own = [
            figure([logs[name] for name, each in self.systems.items() if each == system])
            for system in sorted(set(self.systems.values()))
        ]
        return np.tile(own, (len(self.weights), 1))

    def correlation(self, aspects: Sequence[RankedMeans]) -> RankCorrelation | None:
        """The mean over aspects; None without any, and for fewer than three systems."""
        many = self.member.shape[1]
        if many < FEWEST_SYSTEMS or not aspects:
            return None
        found = [correlate_rows(*own) for own in aspects]
        pearson = np.mean([np.nan_to_num(each.pearson) for each in found], axis=0)
        spearman = np.mean([np.nan_to_num(each.spearman) for each in found], axis=0)
        return RankCorrelation(_estimate(pearson), _estimate(spearman), many)


def distinct(logs: Iterable[ConversationLog], n: int) -> float:
    """Distinct n-grams of what the system said, by the number of its turns (Distinct-n of Li et al.
    2016, as conversational recommenders are compared); words are separated by white space.
    """
    said = [turn.text.casefold().split() for log in logs for turn in log.system_turns]
    grams = {tuple(words[at : at + n]) for words in said for at in range(len(words) - n + 1)}
    return len(grams) / max(1, len(said))


def _estimate(draws: _Floats) -> Estimate:
    low, high = np.quantile(draws[1:], [0.025, 0.975])
    return Estimate(float(draws[0]), float(low), float(high))
