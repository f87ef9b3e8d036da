"""Proactiveness: the share of system turns that advance the conversation."""

from typing import NamedTuple

from recjury.judges.measured.anchors import (
    Occurrence,
    Outcome,
    from_share,
    join_first,
    not_applicable,
    score_of,
)
from recjury.judges.measured.annotated_log import AnnotatedLog, AnnotatedTurn
from recjury.judges.measured.asks import clarifies, offers
from recjury.judges.measured.frames import Frames

_HALF = 2


class Lead(NamedTuple):
    """How a turn is proactive, and how many quarters of it."""

    way: str
    quarters: int


def leads(turn: AnnotatedTurn) -> Lead | None:
    """How a system's turn is proactive: it asks about wishes, offers more, or suggests items."""
    if turn.failed:
        return None
    question = clarifies(turn.utterance)
    if question is not None:
        return Lead(f"asks {question!r}", 4)
    offer = offers(turn.utterance)
    if offer is not None:
        return Lead(f"offers {offer!r}", 4)
    choice = len({film.key for film in turn.new_films})
    if choice > 1:
        return Lead(f"names {choice} films to choose from, half", 2)
    return Lead("suggests a film, a quarter", 1) if choice else None


def proactiveness(annotated: AnnotatedLog) -> Outcome:
    """All turns proactive 4, most 3, about half 2, a few 1, none 0.

    A turn that asks or offers in the words of an earlier one counts half, and so does one that only
    gives several films to choose from; one that only suggests a film counts a quarter.
    """
    if not annotated.system:
        return not_applicable("the system had no turn")
    found: list[Occurrence] = []
    frames = Frames()
    quarters = 0
    for turn in annotated.system:
        lead = leads(turn)
        if lead is not None:
            again = lead.quarters > _HALF and bool(frames.same_as(turn))
            quarters += _HALF if again else lead.quarters
            found.append(
                Occurrence(turn.number, f"{lead.way}, as before, half" if again else lead.way)
            )
        frames.add(turn)
    total = len(annotated.system)
    summary = f"{quarters / 4:g} of {total} turns lead on"
    return score_of(
        from_share(quarters, 4 * total), f"{summary}: {join_first(found)}" if found else summary
    )
