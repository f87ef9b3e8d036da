"""Ratings that were lost: what they may have been, so that nobody gains by losing its bad ones."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recjury.records import FAILED, Rating, mean_score

LEAST_SHOWN = 0.01
"""The share of lost ratings above which a mean is shown with its worst case."""


class Losses(NamedTuple):
    """A conversation's ratings of one measure: how many should have a score, and how many lack it.

    `low` and `high` are the value if every lost one had the lowest, or the highest, score of the
    scale; None if the scale is open there, or if nothing should have a score.
    """

    planned: int
    lost: int
    low: float | None
    high: float | None

    @classmethod
    def among(cls, judgings: Sequence[Sequence[Rating]]) -> "Losses":
        """The losses among the ratings of each judging."""
        due = [[each for each in ratings if _is_due(each)] for ratings in judgings]
        every = [each for ratings in due for each in ratings]
        lost = sum(each.score is None for each in every)
        return cls(len(every), lost, _value(due, upper=False), _value(due, upper=True))


class WorstCase(NamedTuple):
    """The share (0 to 1) of a system's ratings of a measure that were lost, and between which
    bounds its mean would be with them; None for an open scale."""

    share: float
    low: float | None
    high: float | None

    def text(self, digits: int) -> str:
        """In words: "lost 50 %: 1.00 to 3.00"."""
        share = f"lost {max(1, round(100 * self.share))} %"
        if self.low is None or self.high is None:
            return share
        return f"{share}: {self.low:.{digits}f} to {self.high:.{digits}f}"


def worst_case(scenarios: Iterable[Sequence[Losses]], share: float) -> WorstCase | None:
    """The worst case of a mean over scenarios, of which this share of the ratings was lost.

    It is None if that is at most 1 %.
    """
    if share <= LEAST_SHOWN:
        return None
    groups = [[each for each in losses if each.planned] for losses in scenarios]
    low = _mean(_mean(each.low for each in losses) for losses in groups if losses)
    high = _mean(_mean(each.high for each in losses) for losses in groups if losses)
    return WorstCase(share, low, high)


def _is_due(rating: Rating) -> bool:
    return rating.score is not None or rating.status in FAILED


def _value(judgings: Sequence[Sequence[Rating]], *, upper: bool) -> float | None:
    """The value of a conversation if each lost rating had the end of its scale."""
    return _mean(_with_ends(ratings, upper=upper) for ratings in judgings if ratings)


def _with_ends(ratings: Sequence[Rating], *, upper: bool) -> float | None:
    ends = [each.high if upper else each.low for each in ratings]
    if any(end is None and each.score is None for each, end in zip(ratings, ends, strict=True)):
        return None
    filled = (
        each if each.score is not None else each.model_copy(update={"score": end})
        for each, end in zip(ratings, ends, strict=True)
    )
    return mean_score(list(filled))


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean; None if a value is unknown, or if there is none."""
    given = list(values)
    known = [each for each in given if each is not None]
    return sum(known) / len(known) if known and len(known) == len(given) else None
