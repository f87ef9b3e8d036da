"""Coherence and Recoverability: the system's turns that do not answer the user, counted."""

from collections import Counter
from collections.abc import Callable, Sequence

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.answers import OBJECTIONS, TurnAnswer, answers, missed_by
from recjury.judges.measured.outcome import (
    DOUBTFUL,
    Outcome,
    Requirement,
    counted,
    from_both,
    from_errors,
    from_share,
    not_applicable,
    scored,
    unscored,
)
from recjury.records import Act

_MOST_APART = 1


def coherence(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of turns that do not answer, and of their share."""
    return _rated(log, answers(log), "turn", "without an answer to the user", from_both)


def recoverability(log: AnnotatedLog) -> Outcome:
    """The mean of two scores, rounded up: of the objections left open, and of their share.

    Without an objection there is no score: nothing shows how the system recovers. An objection is a
    complaint, or a refusal (or "seen") after the system offered something. Of doubtful ones, only
    those that the answer would leave open matter.
    """
    found: list[TurnAnswer] = []
    for answer in answers(log)[1:]:
        objects = _objects(log, answer)
        if objects is None and not answer.doubt and answer.turn.user is not None:
            acts = answer.turn.user.reading.yes | {Act.COMPLAIN}
            unanswered = missed_by(log, answer.turn, acts) is not None
            found += [answer._replace(doubt=DOUBTFUL)] if unanswered else []
        elif objects is not False:
            known = answer._replace(doubt=Requirement.CATALOGUE)
            found.append(answer if len(log.catalogue) else known)
    if not found:
        return not_applicable("the user objected to nothing")
    return _rated(log, found, "objection", "left open", _from_number_and_share)


def _from_number_and_share(missed: int, total: int) -> int:
    """One of one that is left open is neither one slip (3) nor the worst (0), but 2."""
    return (from_errors(missed) + from_share(total - missed, total) + 1) // 2


def _objects(log: AnnotatedLog, answer: TurnAnswer) -> bool | None:
    """Whether the user's turn before an answer objects to the system; None if that is doubtful.

    A refusal or "seen" is an objection only if the system has offered something: the item that
    the user's turn names, if it names any. Without a catalogue that is assumed.
    """
    turn = answer.turn
    if turn.user is None:
        return False
    reading = turn.user.reading
    about = {mention.key for mention in turn.user.said.named} | set(reading.items)
    offered = (turn.offered & about if about else turn.offered) or not len(log.catalogue)
    possible = OBJECTIONS if offered else {Act.COMPLAIN}
    return True if reading.yes & possible else False if possible <= reading.no else None


def _rated(
    log: AnnotatedLog,
    found: Sequence[TurnAnswer],
    noun: str,
    what: str,
    score: Callable[[int, int], int],
) -> Outcome:
    """The score of the number of turns that do not answer, among all.

    Doubtful turns are left out, unless they could change the score by two or more, or at all if
    only a catalogue could tell: then there is none.
    """
    missed = [each.missed for each in found if each.missed is not None and not each.doubt]
    doubts = Counter(each.doubt for each in found if each.doubt)
    total = len(found) - doubts.total()
    highest = score(len(missed), len(found))
    lowest = score(len(missed) + doubts.total(), len(found))
    if doubts and highest - lowest > (0 if Requirement.CATALOGUE in doubts else _MOST_APART):
        return unscored(doubts.most_common(1)[0][0], missed)
    declared = {turn.user.reading.declared for turn in log.system if turn.user is not None}
    ways = ("declared" if way else "read from the text" for way in sorted(declared, reverse=True))
    acts = f" (by acts {' and '.join(ways)})" if declared else ""
    left_out = f", {doubts.total()} doubtful left out" if doubts else ""
    summary = f"{len(missed)} of {counted(total, noun)} {what}{left_out}{acts}"
    return scored(score(len(missed), total), summary, missed)
