"""Proactiveness: the share of system turns that lead the conversation on."""

from recjury.judges.measured.anchors import (
    Finding,
    Outcome,
    from_share,
    listed,
    not_applicable,
    scored,
)
from recjury.judges.measured.asks import clarifies, offers
from recjury.judges.measured.reading import Reading, ReadTurn


def leads(turn: ReadTurn) -> str | None:
    """How a system's turn leads on: it asks about wishes, offers more, or gives a choice."""
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


def proactiveness(reading: Reading) -> Outcome:
    """Every turn is 4, most 3, about half 2, a few 1, none 0."""
    if not reading.system:
        return not_applicable("the system had no turn")
    ways = [(turn.number, leads(turn)) for turn in reading.system]
    found = [Finding(number, way) for number, way in ways if way is not None]
    total = len(reading.system)
    summary = f"{len(found)} of {total} turns lead on"
    return scored(
        from_share(len(found), total), f"{summary}: {listed(found)}" if found else summary
    )
