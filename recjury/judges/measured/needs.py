"""What must be seen for a factor to have a score, and the reasons for none.

Each reason has one wording, so that tables can group the ratings without a score by it.
"""

from collections.abc import Iterable
from enum import StrEnum

from recjury.judges.guideline import NO_TARGETS, no_list
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, not_applicable, unscored

NO_CATALOGUE = "no catalogue: what items are is not known"
NOT_ENGLISH = "another language: only English is read"
DOUBTFUL = "doubtful: what the user's turn does"
NOT_SURE = "doubtful: whether the system's turns are broken"


class Need(StrEnum):
    """What a judge must see."""

    TURN = "a turn of the system"
    TEXT = "a turn of the system that did not fail"
    LIST = "a recommendation list"
    TARGETS = "a target"
    CATALOGUE = "a catalogue"
    ENGLISH = "English"


def lacking(log: AnnotatedLog, needs: Iterable[Need]) -> Outcome | None:
    """No score, with the first reason for it; None if the log has all that is needed."""
    return next((outcome for need in needs if (outcome := _lack(log, need)) is not None), None)


def _lack(log: AnnotatedLog, need: Need) -> Outcome | None:
    match need:
        case Need.TURN:
            return None if log.system else not_applicable("the system had no turn")
        case Need.TEXT:
            return None if log.spoken else not_applicable("the system said nothing")
        case Need.LIST:
            return None if log.session else not_applicable(no_list(log.log))
        case Need.TARGETS:
            return None if log.log.scenario.targets else not_applicable(NO_TARGETS)
        case Need.CATALOGUE:
            return None if len(log.catalogue) else unscored(NO_CATALOGUE)
        case Need.ENGLISH:
            return None if log.is_english else unscored(NOT_ENGLISH)
