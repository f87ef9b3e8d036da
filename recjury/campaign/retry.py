"""The choice of what a run asks for again: unscored ratings, and conversations that failed."""

from collections.abc import Mapping
from enum import StrEnum

from recjury.records import StageResult, Status

_FAILED = frozenset({Status.CALL_FAILED, Status.REFUSED})
_STATUSES = {
    "unscored": _FAILED | {Status.UNREADABLE},
    "failed": _FAILED,
    "none": frozenset[Status](),
}


class Retry(StrEnum):
    """The results of earlier runs that are asked for again.

    UNSCORED: ratings that could not be read, failed or were refused, and conversations that failed.
    FAILED: the same, except what could not be read. NONE: nothing; what an earlier run has not
    finished because it was ended is still done.
    """

    UNSCORED = "unscored"
    FAILED = "failed"
    NONE = "none"

    @property
    def statuses(self) -> frozenset[Status]:
        """The statuses of ratings that are asked for again."""
        return _STATUSES[self.value]

    def stages(self, done: Mapping[str, StageResult]) -> set[str]:
        """The finished stages in which something is to be asked for again."""
        return {
            stage
            for stage, result in done.items()
            if not self.statuses.isdisjoint(_statuses(result))
        }


def is_better(now: StageResult, before: StageResult) -> bool:
    """Whether a stage that was done again lacks less than before."""
    return _missing(now) < _missing(before)


def _missing(result: StageResult) -> int:
    return sum(status is not Status.SCORED for status in _statuses(result))


def _statuses(result: StageResult) -> tuple[Status, ...]:
    return (*(rating.status for rating in result.ratings), *result.lost)
