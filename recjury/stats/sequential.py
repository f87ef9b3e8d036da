"""Which of two systems is better, asked after every scenario.

A bettor whose capital cannot become negative bets against the hypothesis that their scores differ
by 0 in the mean; if that is true, the capital exceeds 1/alpha at any time with probability alpha at
most. It holds however often one looks, and whenever one stops (Waudby-Smith and Ramdas 2024,
"Estimating means of bounded random variables by betting", with the bets of their section B.3,
aGRAPA).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.stats.comparison import holm

_Floats = NDArray[np.float64]

_MOST = 0.9  # the share of the capital that a bet can lose
_IMAGINED = 0.3  # values that bets are based on before the first one; little, to learn fast
_MOST_SYSTEMS = 8  # 4,140 groupings
_LARGEST = 700.0  # the logarithm of the largest capital that is told apart


class Decision(NamedTuple):
    """Two systems: which is better, if that is decided; `p` is corrected over all pairs.

    `mean` is that of the `n` gaps so far, the first system's score minus the second's.
    """

    a: str
    b: str
    better: str | None
    mean: float | None
    p: float
    n: int


class SequentialPairs:
    """Which system of each pair has the higher mean, asked after every scenario.

    All decisions together are right with a chosen probability, however often one looks. They come
    from a closed test (Marcus, Peritz and Gabriel 1976): a pair is decided as soon as every way in
    which its two systems could be equal is refuted. Systems fall into groups of equals (Shaffer
    1986), and a grouping is refuted by the mean of the capitals of its pairs, which is again the
    capital of a bettor (Vovk and Wang 2021, "E-values: calibration, combination and applications").

    If systems are more than 8, or a scenario has no score of one of them (then the pairs are
    about different scenarios), the pairs are corrected by Holm's method instead.
    """

    def __init__(
        self,
        pairs: Iterable[tuple[str, str]],
        low: float,
        high: float,
        *,
        confidence: float,
        least: int,
    ):
        """The gaps of every pair lie between `low` and `high`, and 0 between them.

        No pair is decided before `least` gaps. Raises ValueError if the bounds do not fit.
        """
        if not low < 0 < high:
            raise ValueError(f"expected {low} < 0 < {high}")
        self._pairs = tuple(pairs)
        self._low, self._range = low, high - low
        self._alpha, self._least = 1 - confidence, least
        self._bettor = _Bettor(np.full(len(self._pairs), -low / self._range))
        self._groupings = _groupings(self._pairs)
        self._refuted = np.zeros(len(self._groupings))  # the most log capital against each
        self._sizes = self._groupings.sum(axis=1)
        self._joint = len(self._groupings) > 0  # until a score is missing
        self._decided: dict[tuple[str, str], Decision] = {}
        self._undecided = self._pairs

    @property
    def undecided(self) -> tuple[tuple[str, str], ...]:
        """The pairs that are not decided, in their order."""
        return self._undecided

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Each pair as it was when it was decided, or as it is now."""
        found = (self._decision(place, p) for place, p in enumerate(self._corrected()))
        return tuple(self._decided.get((each.a, each.b), each) for each in found)

    def add(self, gaps: Mapping[tuple[str, str], float | None]) -> None:
        """Take a scenario's gaps of all undecided pairs; None if a system has no score.

        Raises ValueError for a gap out of bounds.
        """
        values = np.full(len(self._pairs), np.nan)
        for place, pair in enumerate(self._pairs):
            if pair in self._decided:
                continue
            gap = gaps[pair]
            if gap is not None:
                values[place] = self._scaled(gap)
            else:
                self._joint = False
        self._bettor.bet(values)
        if self._joint:
            capital = np.exp(np.minimum(self._bettor.capital, _LARGEST))
            means = self._groupings @ capital / self._sizes
            self._refuted = np.maximum(self._refuted, np.log(means))
        if self._bettor.n.max(initial=0) >= self._least:
            for each in self.decisions:
                if each.better is not None:
                    self._decided.setdefault((each.a, each.b), each)
            self._undecided = tuple(pair for pair in self._pairs if pair not in self._decided)

    def _scaled(self, gap: float) -> float:
        scaled = (gap - self._low) / self._range
        if not -1e-9 <= scaled <= 1 + 1e-9:
            raise ValueError(f"{gap} is not between {self._low} and {self._low + self._range}")
        return min(1.0, max(0.0, scaled))

    def _corrected(self) -> list[float]:
        """The p-value of each pair, corrected over all."""
        if not self._joint:
            alone = np.exp(-self._bettor.most)
            found = holm({str(place): float(p) for place, p in enumerate(alone)})
            return [1.0 if p is None else p for p in found.values()]
        least = np.where(self._groupings > 0, self._refuted[:, None], np.inf).min(axis=0)
        return [float(p) for p in np.exp(-least)]

    def _decision(self, place: int, p: float) -> Decision:
        (a, b), n = self._pairs[place], int(self._bettor.n[place])
        if not n:
            return Decision(a, b, None, None, p, 0)
        mean = self._low + self._range * float(self._bettor.mean[place])
        decided = n >= self._least and p <= self._alpha and mean
        better = None if not decided else a if mean > 0 else b
        return Decision(a, b, better, mean, p, n)


def _groupings(pairs: Sequence[tuple[str, str]]) -> _Floats:
    """Which pairs are equal at the same time, for each grouping of the systems [groupings, pairs].

    There is none if there are too many systems.
    """
    systems = sorted({system for pair in pairs for system in pair})
    if len(systems) > _MOST_SYSTEMS:
        return np.zeros((0, len(pairs)))
    groupings: list[tuple[int, ...]] = [()]
    for _ in systems:  # each system joins a group, or begins one
        groupings = [(*own, g) for own in groupings for g in range(max(own, default=-1) + 2)]
    place = {system: n for n, system in enumerate(systems)}
    equal = {tuple(own[place[a]] == own[place[b]] for a, b in pairs) for own in groupings}
    return np.array(sorted(row for row in equal if any(row)), dtype=float).reshape(-1, len(pairs))


class _Bettor:
    """The logarithm of the capital against each of some means, on a scale from 0 to 1."""

    def __init__(self, means: _Floats):
        self._means = means
        with np.errstate(divide="ignore"):
            self._least, self._largest = -_MOST / (1 - means), _MOST / means
        self.capital = np.zeros(len(means))
        self.most = np.zeros(len(means))
        self.n = np.zeros(len(means), dtype=int)
        # Before the first value: the middle, with the largest possible spread.
        self._sum = np.full(len(means), 0.5 * _IMAGINED)
        self._squares = np.full(len(means), 0.25 * _IMAGINED)

    @property
    def mean(self) -> _Floats:
        return (self._sum - 0.5 * _IMAGINED) / np.maximum(self.n, 1)

    def bet(self, value: float | _Floats) -> None:
        """Take one value for all means, or one for each (NaN: none)."""
        taken = ~np.isnan(value)
        expected = self._sum / (self.n + _IMAGINED)
        spread = self._squares / (self.n + _IMAGINED)
        apart = expected - self._means
        stake = np.minimum(np.maximum(apart / (spread + apart**2), self._least), self._largest)
        self.capital += np.where(taken, np.log1p(stake * (value - self._means)), 0.0)
        self.most = np.maximum(self.most, self.capital)
        self.n = self.n + taken
        self._sum = self._sum + np.where(taken, value, 0.0)
        off = value - self._sum / (self.n + _IMAGINED)
        self._squares = self._squares + np.where(taken, off**2, 0.0)
