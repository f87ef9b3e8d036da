"""Grammatical Correctness: the system's turns that the reader of replies calls garbled."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.needs import NOT_SURE
from recjury.judges.measured.outcome import (
    Finding,
    Outcome,
    counted,
    from_errors,
    scored,
    unscored,
)

_ERRORS = {
    "garbled": "is garbled",
    "loop": "repeats itself",
    "mixed_languages": "mixes languages",
    "truncated": "is cut off",
}
"""What kinds of flaws are errors of grammar: residues of a program are none."""


def grammatical_correctness(log: AnnotatedLog) -> Outcome:
    """0 to 3 turns with errors score 4, 3, 2, 1; four or more, or more than half of them, 0.

    Turns that are doubtful or in another language are left out; there is no score if they are
    more than half.
    """
    checked = [turn for turn in log.spoken if turn.check and turn.check.broken is not None]
    if 2 * len(checked) < len(log.spoken):
        return unscored(NOT_SURE)
    wrong = [
        Finding(
            turn.place, turn.check.kind, _note(turn.check.kind, turn.check.quote), turn.check.quote
        )
        for turn in checked
        if turn.check is not None and turn.broken and turn.check.kind in _ERRORS
    ]
    if not wrong:
        return scored(4, f"no error found in {counted(len(checked), 'turn')}")
    score = 0 if 2 * len(wrong) > len(checked) else from_errors(len(wrong))
    return scored(score, f"{len(wrong)} of {counted(len(checked), 'turn')} with errors", wrong)


def _note(kind: str, quote: str) -> str:
    return f"{quote!r} {_ERRORS[kind]}"
