"""Recoverability: the number of objections of the user that the system leaves open."""

from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.answers import OBJECTIONS, Answer, answers, doubt_of, missed_by
from recjury.judges.measured.coherence import MOST_APART
from recjury.judges.measured.needs import DOUBTFUL, NO_CATALOGUE
from recjury.judges.measured.outcome import Finding, Outcome, counted, from_both, scored, unscored
from recjury.records import Act


class _Objections(NamedTuple):
    """The answers to objections: those that leave one open, those that do not, and the doubtful."""

    left: list[Finding]
    answered: int
    doubtful: list[Answer]


def recoverability(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of objections left open, and of their share; 4 without
    any.

    An objection is a complaint, or a refusal (or "seen") after the system offered something. If
    the score could be two apart as doubtful turns object or not, there is none.
    """
    found = _objections(log)
    left, total = len(found.left), len(found.left) + found.answered
    doubtful = len(found.doubtful)
    lowest = from_both(left + doubtful, total + doubtful)
    unseen = any(each.doubt == NO_CATALOGUE for each in found.doubtful)
    if from_both(left, total) - lowest > (0 if unseen else MOST_APART):
        return unscored(doubt_of(found.doubtful), found.left)
    if not total:
        return scored(4, f"the user objects to nothing ({log.acts_are})")
    summary = f"{left} of {counted(total, 'objection')} left open ({log.acts_are})"
    return scored(from_both(left, total), summary, found.left)


def _objections(log: AnnotatedLog) -> _Objections:
    found = _Objections([], 0, [])
    for answer in answers(log)[1:]:
        turn = answer.turn
        if turn.user is None:
            continue
        objects = _objects(answer)
        missed = answer.missed or missed_by(log, turn, turn.user.reading.yes | {Act.COMPLAIN})
        if objects is True and answer.doubt:
            found.doubtful.append(answer)
        elif objects is True and answer.missed is not None:
            found.left.append(answer.missed)
        elif objects is True:
            found = found._replace(answered=found.answered + 1)
        elif objects is None and missed is not None:
            found.doubtful.append(answer._replace(doubt=answer.doubt or DOUBTFUL))
    return found


def _objects(answer: Answer) -> bool | None:
    """Whether the user's turn before an answer objects to the system; None if that is doubtful.

    A refusal or "seen" is no objection unless the system has offered something; of an item that
    the turn names, the system must have offered that item.
    """
    turn = answer.turn
    assert turn.user is not None
    reading = turn.user.reading
    about = {mention.id for mention in turn.user.said.named} | set(reading.items)
    offered = turn.offered if not about else turn.offered & about
    possible = OBJECTIONS if offered else {Act.COMPLAIN}
    if reading.yes & possible:
        return True
    return False if possible <= reading.no else None
