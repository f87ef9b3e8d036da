"""Proactiveness: the share of system turns that advance the conversation."""

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


def leads(turn: AnnotatedTurn) -> str | None:
    """How a system's turn is proactive: it asks about wishes, offers more, or gives a choice."""
    if turn.failed:
        return None
    question = clarifies(turn.utterance)
    if question is not None:
        return f"asks {question!r}"
    offer = offers(turn.utterance)
    if offer is not None:
        return f"offers {offer!r}"
    choice = len({film.key for film in turn.new_films})
    return f"names {choice} films to choose from" if choice > 1 else None


def proactiveness(annotated: AnnotatedLog) -> Outcome:
    """All turns proactive 4, most 3, about half 2, a few 1, none 0.

    A turn that asks or offers in the words of an earlier one counts half, and one that only
    suggests a film a quarter.
    """
    if not annotated.system:
        return not_applicable("the system had no turn")
    found: list[Occurrence] = []
    frames = Frames()
    quarters = 0
    for turn in annotated.system:
        way = leads(turn)
        if way is not None:
            again = bool(frames.same_as(turn))
            quarters += 2 if again else 4
            found.append(Occurrence(turn.number, f"{way}, as before, half" if again else way))
        elif turn.new_films:
            quarters += 1
            found.append(Occurrence(turn.number, "suggests a film, a quarter"))
        frames.add(turn)
    total = len(annotated.system)
    summary = f"{quarters / 4:g} of {total} turns lead on"
    return score_of(
        from_share(quarters, 4 * total), f"{summary}: {join_first(found)}" if found else summary
    )
