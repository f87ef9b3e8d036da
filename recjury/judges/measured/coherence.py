"""Coherence: system turns that do not answer what the user said, counted."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.answers import answers, doubt_of
from recjury.judges.measured.needs import NO_CATALOGUE
from recjury.judges.measured.outcome import Outcome, counted, from_both, scored, unscored

MOST_APART = 1
"""The most by which doubtful turns may change a score that is given without them."""


def coherence(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of turns that do not answer, and of their share.

    Doubtful turns are left out. If the score could be two apart as they answer or not, there is
    none; nor if it could differ at all and only a catalogue could tell.
    """
    found = answers(log)
    doubtful = [each for each in found if each.doubt]
    missed = [each.missed for each in found if each.missed is not None and not each.doubt]
    total = len(found) - len(doubtful)
    highest = from_both(len(missed), len(found))
    lowest = from_both(len(missed) + len(doubtful), len(found))
    unseen = any(each.doubt == NO_CATALOGUE for each in doubtful)
    if not total or highest - lowest > (0 if unseen else MOST_APART):
        return unscored(doubt_of(doubtful), missed)
    acts = log.acts_are
    if not missed:
        return scored(4, f"all {counted(total, 'turn')} answer the user ({acts})")
    summary = f"{len(missed)} of {counted(total, 'turn')} do not answer the user ({acts})"
    return scored(from_both(len(missed), total), summary, missed)
