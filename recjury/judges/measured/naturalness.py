"""Naturalness: the share of system turns that a native speaker would write (A.1.5 of CoRE)."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Outcome, by_share


def naturalness(log: AnnotatedLog) -> Outcome:
    """All turns natural 4, most 3, about half 2, a few 1, none 0.

    A turn counts if it is not broken; not at all if it comes again word for word, or for the third
    time with other names, and half the second time. For doubtful turns see `AnnotatedLog.checked`.
    """
    checked, doubtful = log.checked
    found = [turn.said_before(times=1) or turn.flaw() for turn in checked]
    natural = doubtful / 2 + sum(
        0.0 if t.said_before() or t.flaw() else 0.5 if t.template_of else 1.0 for t in checked
    )
    findings = [finding for finding in found if finding is not None]
    return by_share(natural, len(checked) + doubtful, "turn", "natural", findings)
