"""Recoverability: the number of objections of the user that the system leaves open."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.answers import OBJECTIONS, TurnAnswer, answers, missed_by, rate_answers
from recjury.judges.measured.outcome import Outcome, not_applicable
from recjury.judges.measured.requirements import DOUBTFUL, Requirement
from recjury.records import Act


def recoverability(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of objections left open, and of their share.

    Without an objection there is no score: nothing shows how the system recovers. An objection is a
    complaint, or a refusal (or "seen") after the system offered something. Of doubtful ones, only
    those that the answer would leave open matter.
    """
    found: list[TurnAnswer] = []
    for answer in answers(log)[1:]:
        objects = _objects(answer, known=bool(len(log.catalogue)))
        if objects is None and not answer.doubt and answer.turn.user is not None:
            acts = answer.turn.user.reading.yes | {Act.COMPLAIN}
            unanswered = missed_by(log, answer.turn, acts) is not None
            found += [answer._replace(doubt=DOUBTFUL)] if unanswered else []
        elif objects is not False:
            found.append(
                answer if len(log.catalogue) else answer._replace(doubt=Requirement.CATALOGUE)
            )
    if not found:
        return not_applicable("the user objected to nothing")
    return rate_answers(log, found, "objection", "left open")


def _objects(answer: TurnAnswer, *, known: bool) -> bool | None:
    """Whether the user's turn before an answer objects to the system; None if that is doubtful.

    A refusal or "seen" is an objection only if the system has offered something: the item that
    the user's turn names, if it names any. Without a catalogue that is not `known`, and assumed.
    """
    turn = answer.turn
    if turn.user is None:
        return False
    reading = turn.user.reading
    about = {mention.key for mention in turn.user.said.named} | set(reading.items)
    offered = (turn.offered & about if about else turn.offered) or not known
    possible = OBJECTIONS if offered else {Act.COMPLAIN}
    return True if reading.yes & possible else False if possible <= reading.no else None
