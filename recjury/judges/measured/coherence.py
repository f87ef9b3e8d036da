"""Coherence: system turns that do not answer what the user said, counted."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.answers import answers, undecided
from recjury.judges.measured.outcome import Outcome, counted, from_both, scored


def coherence(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of turns that do not answer, and of their share.

    Doubtful turns are left out, unless the score could be two apart as they answer or not: then
    there is none.
    """
    found = answers(log)
    doubtful = [each for each in found if each.doubt]
    missed = [each.missed for each in found if each.missed is not None and not each.doubt]
    total = len(found) - len(doubtful)
    turns = counted(total, "turn")
    summary = (
        f"{len(missed)} of {turns} do not answer the user" if missed else f"all {turns} answer"
    )
    return undecided(missed, total, doubtful) or scored(
        from_both(len(missed), total), f"{summary} ({log.acts_are})", missed
    )
