"""Grammatical Correctness: the system's turns that the reader of replies calls ungrammatical."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, by_share, from_errors, unscored
from recjury.judges.measured.requirements import NOT_SURE

_ERRORS = ("garbled", "loop", "mixed_languages", "truncated")


def grammatical_correctness(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of turns with errors, and of the share of turns
    without; 0 if more than half have errors.

    Residues of a program are no errors of grammar. Turns that are doubtful are left out; there is
    no score if they are more than half.
    """
    checked = [turn for turn in log.spoken if turn.check and turn.check.broken is not None]
    if 2 * len(checked) < len(log.spoken):
        return unscored(NOT_SURE)
    wrong = [found for turn in checked if (found := turn.flaw(*_ERRORS)) is not None]
    shared = by_share(len(checked) - len(wrong), len(checked), "turn", "right", wrong)
    most = 0 if 2 * len(wrong) > len(checked) else from_errors(len(wrong))
    return shared._replace(score=min(most, shared.score or 0))
