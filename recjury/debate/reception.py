"""What the user did with what the system said: took it up, or turned it down.

A turn of the user takes it up by accepting or thanking, and turns it down by refusing or
complaining. Acts are declared, or read from the text (`recjury.language`). Only a turn that surely
does one and surely not the other counts.
"""

from collections.abc import Iterator

from recjury.language import Reading, read_acts
from recjury.records import Act, ConversationLog, Evidence, Speaker

RECEPTION = "what the user did"
"""Stands for the factor in this evidence."""
TAKEN_UP, TURNED_DOWN = "taken up", "turned down"
_AGAINST = frozenset({Act.REFUSE, Act.COMPLAIN})


def reception_of(log: ConversationLog) -> tuple[Evidence, ...]:
    """Evidence for each of the user's turns that counts, labelled `TAKEN_UP` or `TURNED_DOWN`.

    Its `turn` is the system's turn before, which it answers.
    """
    return tuple(_evidence(log))


def _evidence(log: ConversationLog) -> Iterator[Evidence]:
    turns = (*log.scenario.history, *log.interaction)
    begins = len(log.scenario.history)
    answered: int | None = None
    for at, turn in enumerate(turns[begins:]):
        if turn.speaker is Speaker.SYSTEM:
            answered = at
        elif answered is not None:
            label = _taken(read_acts(turn, turns[: begins + at]))
            if label:
                note = f"{label} by the user in turn {at + 1}"
                yield Evidence(factor=RECEPTION, label=label, note=note, turn=answered)


def _taken(reading: Reading) -> str:
    if reading.yes & _AGAINST and Act.ACCEPT in reading.no:
        return TURNED_DOWN
    taken = reading.yes & {Act.ACCEPT, Act.THANK} and reading.no >= _AGAINST
    return TAKEN_UP if taken else ""
