"""Grammatical Correctness and Naturalness: the turns that the reader of replies calls broken."""

from collections.abc import Callable

from recjury.judges.measured.annotated_log import AnnotatedLog, SystemTurn
from recjury.judges.measured.outcome import Finding, Outcome, by_worth, from_both

_ERRORS = ("garbled", "loop", "mixed_languages", "truncated")


def grammatical_correctness(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of turns with errors, and of the share of turns
    without; 0 if more than half have errors.

    Residues of a program are no errors of grammar.
    """
    turns = _rated(log, lambda turn: turn.flaw(*_ERRORS))
    wrong = sum(turn.worth == 0 for turn in turns)
    errors = sum(1 - turn.worth for turn in turns)
    score = 0 if 2 * wrong > len(turns) else from_both(errors, len(turns))
    return by_worth(turns, "turn", "without errors")._replace(score=score)


def naturalness(log: AnnotatedLog) -> Outcome:
    """All turns natural 4, most 3, about half 2, a few 1, none 0 (CoRE, appendix A.1.5).

    A turn counts if it is not broken; not at all if it comes again word for word, and half if it
    comes again with other names.
    """
    return by_worth(_rated(log, _unnatural), "turn", "natural")


def _unnatural(turn: SystemTurn) -> Finding | None:
    again = turn.said_before(times=1)
    if again is None or turn.same_as is not None or turn.flaw():
        return again or turn.flaw()
    return again._replace(note=f"{again.note}, which counts half", worth=0.5)


def _rated(log: AnnotatedLog, wrong: Callable[[SystemTurn], Finding | None]) -> list[Finding]:
    """What each turn in English counts: 1 if nothing is wrong, and half if that is doubtful.

    Doubtful turns are left out if half of the turns are fine: a system's turns are alike, so these
    are, too.
    """
    english = [turn for turn in log.spoken if turn.check and turn.check.english]
    fine = sum(turn.check is not None and turn.check.broken is False for turn in english)
    turns: list[Finding] = []
    for turn in english:
        if turn.check is None or turn.check.broken is not None:
            turns.append(wrong(turn) or Finding(turn.place, "", "", worth=1.0))
        elif 2 * fine < len(english):
            turns.append(Finding(turn.place, "", "may be broken, which counts half", worth=0.5))
    return turns
