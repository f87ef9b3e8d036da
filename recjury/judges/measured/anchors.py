"""Scores from counts and shares: the anchors of the rubric (docs/measured-judges.md)."""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.records import Status

_SHOWN = 8


class Occurrence(NamedTuple):
    """One counted finding: its description, and the turn of the interaction (from 1)."""

    turn: int
    what: str

    def __str__(self) -> str:
        return f"{self.what} (turn {self.turn})"


class Outcome(NamedTuple):
    """A score from 0 to 4 with its rationale, or None with the status and the reason."""

    score: int | None
    status: Status
    text: str


def score_of(score: int, rationale: str) -> Outcome:
    """A score with its rationale."""
    return Outcome(score, Status.SCORED, rationale)


def not_applicable(reason: str) -> Outcome:
    """No score, because the log lacks what the rubric needs."""
    return Outcome(None, Status.NOT_APPLICABLE, reason)


def not_measured(reason: str) -> Outcome:
    """No score, because it cannot be computed without a model."""
    return Outcome(None, Status.NOT_MEASURED, reason)


def from_errors(count: int) -> int:
    """The score for a number of errors: 0 to 3 errors score 4, 3, 2, 1; four or more score 0."""
    return max(0, 4 - count)


def from_share(good: int, total: int) -> int:
    """The score for a share: all 4, most 3, about half 2, a few 1, none 0. `total` is at least 1.

    "About half" is 3/8 to 5/8, so that each band is centred on a multiple of one quarter.
    """
    if good == total:
        return 4
    if good == 0:
        return 0
    if 8 * good > 5 * total:
        return 3
    return 2 if 8 * good >= 3 * total else 1


def join_first(findings: Sequence[Occurrence | str]) -> str:
    """The first findings, separated by commas, and how many more there are."""
    shown = ", ".join(str(finding) for finding in findings[:_SHOWN])
    more = len(findings) - _SHOWN
    return f"{shown}, and {more} more" if more > 0 else shown


def counted(count: int, noun: str) -> str:
    """ "1 error", "2 errors"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
