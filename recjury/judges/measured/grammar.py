"""Grammatical Correctness: the system's turns that the reader of replies calls ungrammatical."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, counted, from_errors, scored, unscored
from recjury.judges.measured.requirements import NOT_SURE

_ERRORS = ("garbled", "loop", "mixed_languages", "truncated")


def grammatical_correctness(log: AnnotatedLog) -> Outcome:
    """0 to 3 turns with errors score 4, 3, 2, 1; four or more, or more than half of them, 0.

    Residues of a program are no errors of grammar. Turns that are doubtful are left out; there is
    no score if they are more than half.
    """
    checked = [turn for turn in log.spoken if turn.check and turn.check.broken is not None]
    if 2 * len(checked) < len(log.spoken):
        return unscored(NOT_SURE)
    wrong = [found for turn in checked if (found := turn.flaw(*_ERRORS)) is not None]
    turns = counted(len(checked), "turn")
    if not wrong:
        return scored(4, f"no error found in {turns}")
    score = 0 if 2 * len(wrong) > len(checked) else from_errors(len(wrong))
    return scored(score, f"errors in {len(wrong)} of {turns}", wrong)
