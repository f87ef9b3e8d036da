"""What must be seen for a factor to have a score; each reason for none has one wording."""

from collections.abc import Iterable
from enum import StrEnum

from recjury.judges.guideline import NO_TARGETS, no_list
from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, not_applicable, unscored

DOUBTFUL = "doubtful: what the user's turn does"


class Requirement(StrEnum):
    """What a judge must see; the value says that it is not there."""

    TURN = "the system had no turn"
    TEXT = "the system said nothing"
    LIST = "no recommendation list"
    TARGETS = NO_TARGETS
    CATALOGUE = "no catalogue: what items are is not known"
    ENGLISH = "another language: only English is read"


def lacking(log: AnnotatedLog, needs: Iterable[Requirement]) -> Outcome | None:
    """No score, with the first reason for it; None if the log has all that is needed."""
    seen = {
        Requirement.TURN: log.system,
        Requirement.TEXT: log.spoken,
        Requirement.LIST: log.session,
        Requirement.TARGETS: log.log.scenario.targets,
        Requirement.CATALOGUE: log.catalogue,
        Requirement.ENGLISH: log.is_english,
    }
    need = next((need for need in needs if not seen[need]), None)
    if need is None:
        return None
    status = unscored if need in (Requirement.CATALOGUE, Requirement.ENGLISH) else not_applicable
    return status(no_list(log.log) if need is Requirement.LIST else need)
