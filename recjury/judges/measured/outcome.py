"""What a judge returns: a score with its rationale, or the reason for none, and its findings."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from recjury.judges.guideline import NO_TARGETS
from recjury.records import Status

_SHOWN = 3
DOUBTFUL = "doubtful: what the user's turn does"


class Requirement(StrEnum):
    """What a judge must see; the value says that it is not there."""

    TURN = "the system had no turn"
    TEXT = "the system said nothing"
    LIST = "no recommendation list"
    TARGETS = NO_TARGETS
    CATALOGUE = "no catalogue: what items are is not known"
    ENGLISH = "another language: only English is read"


class Finding(NamedTuple):
    """What was found in one turn, given by its index in the interaction.

    `note` says it in words. `quote` is the part of the turn's text that shows it; it may be empty.
    `worth` is how much the turn counts, 0 to 1. Without a label, the finding is no evidence.
    """

    turn: int
    label: str
    note: str
    quote: str = ""
    worth: float = 0.0

    def __str__(self) -> str:
        """The note and the number of the turn, from 1."""
        return f"{self.note} (turn {self.turn + 1})"


class Outcome(NamedTuple):
    """A score from 0 to 4 with its rationale, or None with the status and the reason.

    `findings` are in the order of the turns; a rating without a score may have some, too.
    """

    score: int | None
    status: Status
    text: str
    findings: tuple[Finding, ...] = ()


def scored(
    score: int, summary: str, findings: Sequence[Finding] = (), *, quoted: str = ""
) -> Outcome:
    """A score whose rationale is the summary and what weighs most: `quoted`, or the first
    finding."""
    most = quoted or (str(findings[0]) if findings else "")
    rationale = f"{summary}: {most}" if most else summary
    return Outcome(score, Status.SCORED, rationale, tuple(findings))


def unscored(reason: str, findings: Sequence[Finding] = ()) -> Outcome:
    """No score, because it cannot be computed without a model, or from what can be seen."""
    return Outcome(None, Status.NOT_MEASURED, reason, tuple(findings))


def not_applicable(reason: str) -> Outcome:
    """No score, because the log lacks what the rubric needs."""
    return Outcome(None, Status.NOT_APPLICABLE, reason)


def from_errors(count: float) -> int:
    """The score for a number of errors: 0 to 3 errors score 4, 3, 2, 1; four or more score 0.

    Half an error is none.
    """
    return max(0, 4 - int(count))


def from_share(good: float, total: int) -> int:
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


def by_share(
    amount: float, total: int, noun: str, what: str, findings: Sequence[Finding], quoted: str = ""
) -> Outcome:
    """The score for `amount` of `total`, in words: "3 of 4 turns natural"."""
    summary = f"{amount:g} of {counted(total, noun)} {what}"
    return scored(from_share(amount, total), summary, findings, quoted=quoted)


def by_worth(turns: Sequence[Finding], noun: str, what: str) -> Outcome:
    """`by_share` of what the turns count together; the rationale quotes one that counts least."""
    parts = any(turn.worth not in (0, 1) for turn in turns)
    evidence = [turn for turn in turns if turn.label]
    least = min(turns, key=lambda turn: turn.worth)
    amount = sum(turn.worth for turn in turns)
    partly = f"{what} (some count in part)" if parts else what
    quoted = str(least) if least.note else ""
    return by_share(amount, len(turns), noun, partly, evidence, quoted)


def from_both(errors: float, total: int) -> int:
    """The lower one of the scores of the number and of the share of errors; 4 if `total` is 0."""
    return min(from_errors(errors), from_share(total - errors, total)) if total else 4


def join_first(names: Sequence[str]) -> str:
    """The first names, separated by commas, and how many more there are."""
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def counted(count: int, noun: str) -> str:
    """ "1 error", "2 errors"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
