"""Ratings that were lost: what they may have been, so that nobody gains by losing its bad ones."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAST_SHOWN = 0.01
"""The share of lost ratings above which a mean is shown with its worst case."""


class Ends(NamedTuple):
    """Between which values a measure is in some conversations, if each lost rating had the lowest,
    or the highest, score of the scale; infinite if the scale is open.

    All three are [conversations]: `places` are those of their scenarios.
    """

    places: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class WorstCase(NamedTuple):
    """The share (0 to 1) of a system's ratings of a measure that were lost, and between which
    bounds its mean over scenarios would be with them; None for an open scale."""

    share: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, share: float, conversations: Iterable[Ends]) -> "WorstCase":
        """The worst case in all these conversations, of which this share of ratings was lost."""
        places, low, high = map(np.concatenate, zip(*conversations, strict=True))
        times = np.bincount(places)
        met = times > 0
        means = (float((np.bincount(places, x)[met] / times[met]).mean()) for x in (low, high))
        return cls(share, *(each if np.isfinite(each) else None for each in means))

    def text(self, digits: int) -> str:
        """In words: "lost 50 %: 1.00 to 3.00"."""
        share = f"lost {max(1, round(100 * self.share))} %"
        if self.low is None or self.high is None:
            return share
        return f"{share}: {self.low:.{digits}f} to {self.high:.{digits}f}"

    def as_json(self) -> dict[str, float | None]:
        """The stable keys of `--json`."""
        return {"lost": self.share, "worst_low": self.low, "worst_high": self.high}
