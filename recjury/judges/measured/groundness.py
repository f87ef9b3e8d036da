"""Groundness: the number of claims about items that contradict the catalogue."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.claims import Claim, Claims
from recjury.judges.measured.outcome import (
    Finding,
    Outcome,
    counted,
    from_both,
    not_applicable,
    scored,
)


def groundness(log: AnnotatedLog, claims: Claims) -> Outcome:
    """The lower of two scores: of the number of errors, and of the share of right claims.

    An error that is repeated counts once. There is no score without a claim that the catalogue
    can decide: otherwise a system that says nothing would get the rubric's 4 for "no obvious
    error". A correct year after a title is not counted as a claim.
    """
    errors: dict[Claim, Finding] = {}
    right: set[Claim] = set()
    for turn in log.spoken:
        for claim, holds, quote in claims.checked(turn):
            if holds:
                right.add(claim)
            else:
                note = f"says {claim.value!r} as {claim.what} of {claim.name!r}"
                errors.setdefault(claim, Finding(turn.place, "wrong claim", note, quote))
    checked = len(errors) + len(right)
    if not checked:
        return not_applicable("no claim about an item that the catalogue can check")
    summary = f"{counted(len(errors), 'error')} in {counted(checked, 'checked claim')}"
    return scored(from_both(len(errors), checked), summary, tuple(errors.values()))
