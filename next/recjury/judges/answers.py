"""Several answers as one, and the score that a value gives."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from recjury.llm import Answer, Score
from recjury.records import Status

T = TypeVar("T")


def together(answers: Sequence[Answer[T]]) -> Answer[list[T]]:
    """All values in order; if one is missing, why, a failed call first: it can be made up for."""
    calls = tuple(call for each in answers for call in each.calls)
    lost = [each for each in answers if each.value is None]
    if lost:
        first = min(lost, key=lambda each: each.status is not Status.CALL_FAILED)
        return Answer(None, first.status, first.reason, calls)
    return Answer([each.value for each in answers if each.value is not None], Status.OK, "", calls)


def scored(answer: Answer[T], score: Callable[[T], Score]) -> Answer[Score]:
    """The score of the answer's value; without a value, the same reason."""
    value = None if answer.value is None else score(answer.value)
    return Answer(value, answer.status, answer.reason, answer.calls)
