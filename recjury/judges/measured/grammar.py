"""Grammatical Correctness: the system's turns that the reader of replies calls ungrammatical."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, by_share, from_errors

_ERRORS = ("garbled", "loop", "mixed_languages", "truncated")


def grammatical_correctness(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of turns with errors, and of the share of turns
    without; 0 if more than half have errors.

    Residues of a program are no errors of grammar. For doubtful turns see `AnnotatedLog.checked`.
    """
    checked, doubtful = log.checked
    wrong = [found for turn in checked if (found := turn.flaw(*_ERRORS)) is not None]
    errors = len(wrong) + doubtful / 2
    total = len(checked) + doubtful
    shared = by_share(total - errors, total, "turn", "right", wrong)
    most = 0 if 2 * len(wrong) > total else from_errors(errors)
    return shared._replace(score=min(most, shared.score or 0))
