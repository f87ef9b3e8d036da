"""Naturalness: the share of system turns that a native speaker would write (A.1.5 of CoRE)."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Finding, Outcome, by_share, unscored
from recjury.judges.measured.requirements import NOT_SURE


def naturalness(log: AnnotatedLog) -> Outcome:
    """All turns natural 4, most 3, about half 2, a few 1, none 0.

    A broken turn is unnatural, and so is one that comes again word for word, or for the third time
    with other names; the second time counts half. Doubtful turns are left out; there is no score
    if they are more than half.
    """
    findings: list[Finding] = []
    amount, judged = 0.0, 0
    for turn in log.spoken:
        found, weight = turn.said_before() or turn.flaw(), 1.0
        if found is None and turn.template_of:
            note = f"turn {turn.template_of[0] + 1} again with other names, half"
            found, weight = Finding(turn.place, "template", note, turn.turn.text), 0.5
        if found is not None:
            findings.append(found)
            amount += weight
        judged += found is not None or (turn.check is not None and turn.check.broken is False)
    if 2 * judged < len(log.spoken):
        return unscored(NOT_SURE, findings)
    return by_share(judged - amount, judged, "turn", "natural", findings)
