"""Groundness: the number of claims about items that contradict the catalogue."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.claims import Claim, checked_claims
from recjury.judges.measured.outcome import (
    Finding,
    Outcome,
    counted,
    from_errors,
    not_applicable,
    scored,
)


def groundness(log: AnnotatedLog) -> Outcome:
    """0 errors score 4, 1 to 3 score 3 to 1, more score 0.

    An error that is repeated counts once. Most claims cannot be checked, so there are at least as
    many errors as if each turn with an item made one claim, wrong as often as those that can be.
    Without an error there is no score if the checked claims are fewer than half of these turns:
    a system that says nothing would get the rubric's 4. A right year after a title is no claim.
    """
    errors: dict[Claim, Finding] = {}
    right: set[Claim] = set()
    for turn in log.spoken:
        for claim, holds, quote in checked_claims(turn, log.catalogue):
            if holds:
                right.add(claim)
            else:
                note = f"says {claim.value!r} as {claim.what} of {claim.name!r}"
                errors.setdefault(claim, Finding(turn.place, "wrong claim", note, quote))
    checked = len(errors) + len(right)
    turns = sum(bool(turn.said.named) for turn in log.spoken)
    if not checked or (not errors and 2 * checked < turns):
        return not_applicable("too few claims about items that the catalogue can check")
    count = max(len(errors), len(errors) * turns // checked)
    summary = f"{counted(len(errors), 'error')} in {counted(checked, 'checked claim')}"
    summary += f", about {count} in all" if count > len(errors) else ""
    return scored(from_errors(count), summary, tuple(errors.values()))
