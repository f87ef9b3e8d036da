"""What was read in replies, or why nothing was, and several answers as one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Generic, NamedTuple, TypeVar

from recjury.errors import CallFailed, Refused
from recjury.records import Status

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What was read, or the reason why nothing was. `calls` are all replies, unusable ones too."""

    value: T | None
    status: Status
    reason: str = ""
    calls: tuple[str, ...] = ()

    def mapped(self, change: Callable[[T], U]) -> "Answer[U]":
        """The answer with another value in place of its own; without one, with the same reason."""
        value = None if self.value is None else change(self.value)
        return Answer(value, self.status, self.reason, self.calls)


class Score(NamedTuple):
    """A rating, a mean of ratings or an expected value, and the reasons for the first."""

    score: float
    rationale: str = ""


def without_value(failure: CallFailed, calls: tuple[str, ...] = ()) -> Answer[T]:
    """The answer of a call that got no reply, after earlier ones."""
    status = Status.REFUSED if isinstance(failure, Refused) else Status.CALL_FAILED
    return Answer(None, status, str(failure), calls)


def together(answers: Sequence[Answer[T]], *, allow_missing: bool = False) -> Answer[list[T]]:
    """All values in order; if one is missing, why, a failed call first: it can be made up for.

    With `allow_missing`, one value is enough unless a call failed: the next run can have all.
    """
    calls = tuple(call for each in answers for call in each.calls)
    values = [each.value for each in answers if each.value is not None]
    missing = [each for each in answers if each.value is None]
    failed = [each for each in missing if each.status is Status.CALL_FAILED]
    if failed or (missing and not (allow_missing and values)):
        first = (failed or missing)[0]
        return Answer(None, first.status, first.reason, calls)
    return Answer(values, Status.OK, "", calls)


def mean(scores: Sequence[Score]) -> Score:
    """The mean, with the reasons of the first."""
    return Score(fmean(each.score for each in scores), scores[0].rationale)
