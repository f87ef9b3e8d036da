"""Proactiveness: the share of system turns that advance the conversation."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.outcome import Finding, Outcome, counted, from_share, scored
from recjury.judges.measured.questions import question_to_user
from recjury.judges.measured.said import words_of

_WHOLE, _HALF, _QUARTER = 4, 2, 1


def proactiveness(log: AnnotatedLog) -> Outcome:
    """All turns proactive 4, most 3, about half 2, a few 1, none 0.

    A turn that asks the user counts in full; asked again in the same words, it counts half, as does
    a turn with several new items; one with a single new item counts a quarter.
    """
    findings: list[Finding] = []
    asked: set[str] = set()
    quarters = 0
    for turn in log.system:
        question = question_to_user(turn.said, log.domain) if turn.spoke else None
        if question is not None:
            again = words_of(question) in asked
            asked.add(words_of(question))
            quarters += _HALF if again else _WHOLE
            note = f"asks {question!r}{', as before, half' if again else ''}"
            findings.append(Finding(turn.place, "asks", note, question))
        elif turn.new and turn.spoke:
            several = len(turn.new) > 1
            quarters += _HALF if several else _QUARTER
            note = (
                f"a choice of {len(turn.new)} {log.domain.items}, half"
                if several
                else f"suggests {turn.new[0].text!r}, a quarter"
            )
            findings.append(Finding(turn.place, "suggests", note, turn.new[0].text))
    total = len(log.system)
    summary = f"{quarters / 4:g} of {counted(total, 'turn')} lead on"
    return scored(from_share(quarters, 4 * total), summary, findings)
