"""Means of bounded values that may be looked at after every value (confidence sequences).

A bettor whose capital cannot become negative bets against each possible mean; if that mean is
true, the capital exceeds 1/alpha at any time with probability alpha at most. The means against
which it has stayed below are the interval. It holds however often one looks, and whenever one
stops (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting",
with the bets of their section B.3, aGRAPA).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.stats.comparison import holm

_Floats = NDArray[np.float64]

_MOST = 0.9  # the share of the capital that a bet can lose
_IMAGINED = 0.3  # values that bets are based on before the first one; little, to learn fast
_MEANS = 1_001  # candidates for the mean, in an interval


class SequentialTest:
    """Whether the mean of bounded values differs from `null`, asked after every value."""

    def __init__(self, low: float, high: float, null: float = 0.0):
        """The values lie between `low` and `high`, and `null` between them.

        Raises ValueError if it does not.
        """
        if not low < null < high:
            raise ValueError(f"expected {low} < {null} < {high}")
        self._low, self._range = low, high - low
        self._bettor = _Bettor(np.array([(null - low) / self._range]))

    def add(self, value: float) -> None:
        """Take the next value. Raises ValueError if it is out of bounds."""
        scaled = (value - self._low) / self._range
        if not -1e-9 <= scaled <= 1 + 1e-9:
            raise ValueError(f"{value} is not between {self._low} and {self._low + self._range}")
        self._bettor.bet(min(1.0, max(0.0, scaled)))

    @property
    def n(self) -> int:
        """How many values were taken."""
        return self._bettor.n

    @property
    def mean(self) -> float | None:
        """Their mean; None before the first one."""
        return self._low + self._range * self._bettor.mean if self.n else None

    @property
    def p(self) -> float:
        """A p-value that holds at any time: 1 over the most that the capital has been."""
        return min(1.0, math.exp(-float(self._bettor.most[0])))


class SequentialInterval(NamedTuple):
    """The mean of the values so far, and an interval that holds at all times together."""

    mean: float
    low: float
    high: float


def confidence_sequence(
    values: Sequence[float] | _Floats, low: float, high: float, alpha: float = 0.05
) -> tuple[SequentialInterval, ...]:
    """The interval after each of `values` [n], which lie between `low` and `high`.

    All n intervals contain the mean with probability 1 - alpha. Raises ValueError for values or
    bounds that do not fit.
    """
    given = (np.asarray(values, dtype=float) - low) / (high - low) if low < high else None
    if given is None or (len(given) and not (given.min() >= -1e-9 and given.max() <= 1 + 1e-9)):
        raise ValueError(f"expected values between {low} and {high}")
    means = np.linspace(0, 1, _MEANS)
    bettor, left = _Bettor(means), (0.0, 1.0)
    found = []
    for value in np.clip(given, 0, 1):
        bettor.bet(float(value))
        kept = means[bettor.most < -math.log(alpha)]
        # The truth may lie between two candidates: the interval is one step wider on each side.
        step = means[1]
        left = (float(kept.min()) - step, float(kept.max()) + step) if kept.size else left
        bounds = (max(0.0, left[0]), min(1.0, left[1]))
        mean, *ends = (low + (high - low) * each for each in (bettor.mean, *bounds))
        found.append(SequentialInterval(mean, *ends))
    return tuple(found)


class Decision(NamedTuple):
    """Two systems: which is better, if that is decided; `p` is corrected over all pairs (Holm)."""

    a: str
    b: str
    better: str | None
    mean: float | None
    p: float
    n: int


def decide_pairs(
    tests: Mapping[tuple[str, str], SequentialTest], *, confidence: float, least: int
) -> tuple[Decision, ...]:
    """Which pairs are decided: `tests` have the values of the first system minus the second's.

    All decisions together are right with probability `confidence`, whenever one looks: the p-values
    only fall, so Holm's correction of the last ones holds for all earlier ones. No pair is decided
    before `least` values.
    """
    names = {f"{a}\n{b}": (a, b) for a, b in tests}
    corrected = holm({name: tests[pair].p for name, pair in names.items()})
    found = []
    for name, (a, b) in names.items():
        test, p = tests[a, b], corrected[name]
        assert p is not None
        decided = test.n >= least and p <= 1 - confidence and test.mean
        better = None if not decided else a if (test.mean or 0.0) > 0 else b
        found.append(Decision(a, b, better, test.mean, p, test.n))
    return tuple(found)


class _Bettor:
    """The logarithm of the capital against each of some means, on a scale from 0 to 1."""

    def __init__(self, means: _Floats):
        self._means = means
        self._capital = np.zeros(len(means))
        self.most = np.zeros(len(means))
        self.n = 0
        # Before the first value: the middle, with the largest possible spread.
        self._sum, self._squares = 0.5 * _IMAGINED, 0.25 * _IMAGINED

    @property
    def mean(self) -> float:
        return (self._sum - 0.5 * _IMAGINED) / self.n

    def bet(self, value: float) -> None:
        expected = self._sum / (self.n + _IMAGINED)
        spread = self._squares / (self.n + _IMAGINED)
        apart = expected - self._means
        with np.errstate(divide="ignore"):
            stake = np.clip(
                apart / (spread + apart**2), -_MOST / (1 - self._means), _MOST / self._means
            )
        self._capital += np.log1p(stake * (value - self._means))
        self.most = np.maximum(self.most, self._capital)
        self.n += 1
        self._sum += value
        self._squares += (value - self._sum / (self.n + _IMAGINED)) ** 2
