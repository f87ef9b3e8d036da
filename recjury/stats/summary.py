"""Means that are always shown with their coverage."""

from collections.abc import Iterable
from typing import NamedTuple


class Summary(NamedTuple):
    """The mean of what was scored, and how much of all that was: `coverage` is scored / n."""

    mean: float | None
    coverage: float
    n: int

    @property
    def scored(self) -> int:
        """How many of the n have a score."""
        return round(self.coverage * self.n)


def summarise(scores: Iterable[float | None]) -> Summary:
    """Mean over the scores that are there; None for one that is not.

    An empty input, or one without any score, has no mean and a coverage of 0.
    """
    values = list(scores)
    scored = [value for value in values if value is not None]
    mean = sum(scored) / len(scored) if scored else None
    return Summary(mean, len(scored) / len(values) if values else 0.0, len(values))
