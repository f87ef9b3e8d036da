"""Grammatical Correctness and Naturalness: the turns that the reader of replies calls broken."""

from recjury.judges.measured.annotated_log import AnnotatedLog, SystemTurn
from recjury.judges.measured.outcome import Outcome, by_share, from_both

_ERRORS = ("garbled", "loop", "mixed_languages", "truncated")


def grammatical_correctness(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of turns with errors, and of the share of turns
    without; 0 if more than half have errors.

    Residues of a program are no errors of grammar.
    """
    checked, doubtful = _checked(log)
    wrong = [found for turn in checked if (found := turn.flaw(*_ERRORS)) is not None]
    errors, total = len(wrong) + doubtful / 2, len(checked) + doubtful
    shared = by_share(total - errors, total, "turn", "right", wrong)
    return shared._replace(score=0 if 2 * len(wrong) > total else from_both(errors, total))


def naturalness(log: AnnotatedLog) -> Outcome:
    """All turns natural 4, most 3, about half 2, a few 1, none 0 (CoRE, appendix A.1.5).

    A turn counts if it is not broken; not at all if it comes again word for word, and half if it
    comes again with other names.
    """
    checked, doubtful = _checked(log)
    found = [turn.said_before(times=1) or turn.flaw() for turn in checked]
    natural = doubtful / 2 + sum(
        0.0 if t.same_as is not None or t.flaw() else 0.5 if t.template_of else 1.0 for t in checked
    )
    findings = [finding for finding in found if finding is not None]
    return by_share(natural, len(checked) + doubtful, "turn", "natural", findings)


def _checked(log: AnnotatedLog) -> tuple[list[SystemTurn], int]:
    """The turns that are surely broken or surely fine, and how many doubtful ones count half.

    None do if half of the turns are fine: a system's turns are alike, so these are, too.
    """
    english = [turn for turn in log.spoken if turn.check and turn.check.english]
    sure = [turn for turn in english if turn.check and turn.check.broken is not None]
    fine = sum(turn.flaw() is None for turn in sure)
    return sure, len(english) - len(sure) if 2 * fine < len(english) else 0
