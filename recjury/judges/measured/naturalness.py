"""Naturalness: the share of system turns that no native speaker would write.

It counts turns, not errors: a single grammatical error does not make a turn unnatural (CoRE,
appendix A.1.5).
"""

from recjury.judges.measured.annotated_log import AnnotatedLog, SystemTurn
from recjury.judges.measured.needs import NOT_SURE
from recjury.judges.measured.outcome import Finding, Outcome, counted, from_share, scored, unscored

_WHOLE, _HALF = 2, 1
_WORDS = {
    "empty": "says nothing",
    "loop": "repeats itself",
    "residue": "is a residue of a program",
    "truncated": "is cut off",
    "mixed_languages": "mixes languages",
    "garbled": "is garbled",
}


def naturalness(log: AnnotatedLog) -> Outcome:
    """All turns natural 4, most 3, about half 2, a few 1, none 0.

    A broken turn is unnatural, and so is one that comes again word for word, or for the third time
    with other names; the second time counts half. Doubtful turns are left out; there is no score
    if they are more than half.
    """
    findings: list[Finding] = []
    halves = judged = 0
    for turn in log.spoken:
        flaw = _flaw(turn)
        if flaw is None and (turn.check is None or turn.check.broken is None):
            continue
        judged += 1
        if flaw is not None:
            finding, weight = flaw
            halves += weight
            findings.append(finding)
    if 2 * judged < len(log.spoken):
        return unscored(NOT_SURE, findings)
    summary = f"{halves / 2:g} of {counted(judged, 'turn')} unnatural"
    return scored(from_share(2 * judged - halves, 2 * judged), summary, findings)


def _flaw(turn: SystemTurn) -> tuple[Finding, int] | None:
    """Why a turn is unnatural, and how many halves of it; None without evidence."""
    if turn.same_as is not None:
        note = f"the words of turn {turn.same_as + 1} again"
        return Finding(turn.place, "said again", note, turn.turn.text), _WHOLE
    if turn.broken and turn.check is not None:
        quote = turn.check.quote
        note = f"{quote!r} {_WORDS.get(turn.check.kind, 'is broken')}"
        return Finding(turn.place, turn.check.kind or "broken", note, quote), _WHOLE
    if turn.template_of:
        again = len(turn.template_of) > 1
        note = f"turn {turn.template_of[0] + 1} again with other names{'' if again else ', half'}"
        weight = _WHOLE if again else _HALF
        return Finding(turn.place, "template", note, turn.turn.text), weight
    return None
