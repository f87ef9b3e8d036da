"""Grammatical Correctness: the system's turns that the reader of replies calls ungrammatical."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, by_share, from_errors, in_halves, unscored
from recjury.judges.measured.requirements import NOT_SURE

_ERRORS = ("garbled", "loop", "mixed_languages", "truncated")


def grammatical_correctness(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of turns with errors, and of the share of turns
    without, where each counts by the reader's probability; 0 if more than half have errors.

    Residues of a program are no errors of grammar. Turns that are doubtful are left out; there is
    no score if they are more than half.
    """
    checked = [turn for turn in log.spoken if turn.check and turn.check.broken is not None]
    if 2 * len(checked) < len(log.spoken):
        return unscored(NOT_SURE)
    wrong = [found for turn in checked if (found := turn.flaw(*_ERRORS)) is not None]
    right = sum(1.0 if turn.flaw("residue") else turn.probably_fine for turn in checked)
    shared = by_share(in_halves(right), len(checked), "turn", "probably right", wrong)
    most = 0 if 2 * len(wrong) > len(checked) else from_errors(len(wrong))
    return shared._replace(score=min(most, shared.score or 0))
