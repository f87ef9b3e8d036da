"""Recoverability: the number of objections of the user that the system leaves open."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.answers import OBJECTIONS, Answer, answers, missed_by, undecided
from recjury.judges.measured.needs import DOUBTFUL
from recjury.judges.measured.outcome import Outcome, counted, from_both, scored
from recjury.records import Act


def recoverability(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of objections left open, and of their share; 4 without
    any.

    An objection is a complaint, or a refusal (or "seen") after the system offered something. Of a
    doubtful one, only an answer that would leave it open is in doubt. There is no score if it could
    be two apart as these are left open or are none.
    """
    found: list[Answer] = []
    for answer in answers(log)[1:]:
        objects = _objects(answer)
        if objects is None and not answer.doubt and answer.turn.user is not None:
            acts = answer.turn.user.reading.yes | {Act.COMPLAIN}
            unanswered = missed_by(log, answer.turn, acts) is not None
            found += [answer._replace(doubt=DOUBTFUL)] if unanswered else []
        elif objects is not False:
            found.append(answer)
    doubtful = [each for each in found if each.doubt]
    left = [each.missed for each in found if each.missed is not None and not each.doubt]
    total = len(found) - len(doubtful)
    summary = f"{len(left)} of {counted(total, 'objection')} left open" if total else "no objection"
    return undecided(left, total, doubtful) or scored(
        from_both(len(left), total), f"{summary} ({log.acts_are})", left
    )


def _objects(answer: Answer) -> bool | None:
    """Whether the user's turn before an answer objects to the system; None if that is doubtful.

    A refusal or "seen" is an objection only if the system has offered something: the item that
    the user's turn names, if it names any.
    """
    turn = answer.turn
    if turn.user is None:
        return False
    reading = turn.user.reading
    about = {mention.key for mention in turn.user.said.named} | set(reading.items)
    possible = OBJECTIONS if (turn.offered & about if about else turn.offered) else {Act.COMPLAIN}
    return True if reading.yes & possible else False if possible <= reading.no else None
