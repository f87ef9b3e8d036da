"""Places on a drawn axis, in per cent of its width: nothing lies outside of it."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from recjury.records import Metric

_EDGE = 4.0  # per cent at both ends, so that a point there is whole
_TICKS = 4
_STEPS = 8  # the last of nine colours


class Tick(NamedTuple):
    """A number on an axis and where it stands."""

    x: float
    text: str


class Plot(NamedTuple):
    """A value with its interval, as places on an axis."""

    value: float
    low: float
    high: float
    ticks: Sequence[Tick]


class Axis(NamedTuple):
    """From `low` to `high`; values beyond stand at the end."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Sequence[float], *, zero: bool = False) -> "Axis":
        """An axis with room for all values, and with zero if it is asked for."""
        known = [value for value in values if not math.isnan(value)] or [0.0]
        ends = [*known, 0.0] if zero else known
        low, high = min(ends), max(ends)
        return cls(low, high) if high > low else cls(low - 1, high + 1)

    @property
    def width(self) -> float:
        """How far the ends are apart."""
        return self.high - self.low

    @property
    def ticks(self) -> list[Tick]:
        """Round numbers along the axis."""
        step = _round_step(self.width / _TICKS)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        values = [place * step for place in range(first, last + 1)]
        return [Tick(self.place(value), f"{value:g}") for value in values]

    def share(self, value: float) -> float:
        """Which part of the axis is below a value, from 0 to 1."""
        return min(max((value - self.low) / self.width, 0.0), 1.0)

    def place(self, value: float) -> float:
        """Where a value stands, in per cent."""
        return round(_EDGE + (100 - 2 * _EDGE) * self.share(value), 2)

    def plot(
        self, value: float, low: float, high: float, *, ticks: Sequence[float] = ()
    ) -> Plot | None:
        """The value with its interval, if any, and lines at `ticks`, else at the axis's own."""
        if math.isnan(value):
            return None
        low, high = (value if math.isnan(end) else end for end in (low, high))
        lines = [Tick(self.place(tick), f"{tick:g}") for tick in ticks] or self.ticks
        return Plot(self.place(value), self.place(low), self.place(high), lines)


def _round_step(step: float) -> float:
    """The next of 1, 2, 5, 10, 20, ... (and .1, .2, ...)."""
    power: float = 10.0 ** math.floor(math.log10(step))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= step - 1e-12)


def scale_of(metric: Metric) -> Axis | None:
    """The metric's scale, None if it has no upper end."""
    if metric.high is None or metric.high <= metric.low:
        return None
    return Axis(metric.low, metric.high)


def step_of(score: float, metric: Metric) -> int | None:
    """A score's colour from 0 to 8, None without a scale."""
    scale = scale_of(metric)
    return round(_STEPS * scale.share(score)) if scale else None
