"""A figure with its interval."""

from typing import NamedTuple

from recjury.records.base import JSON


class Estimate(NamedTuple):
    """A value and its 95 % interval; the ends are None where it has none.

    `value` is None where it is undefined. `n` counts what the value is over; it is None where that
    is said elsewhere.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None

    def as_json(self) -> dict[str, JSON]:
        """Value, low and high; and n if it is given."""
        shown = self._asdict()
        if self.n is None:
            del shown["n"]
        return shown
