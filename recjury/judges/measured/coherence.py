"""Coherence: system turns that do not answer what the user asked, counted."""

from recjury.judges.measured.anchors import (
    Finding,
    Outcome,
    counted,
    from_errors,
    listed,
    not_applicable,
    scored,
)
from recjury.judges.measured.asks import Ask, ask_of, clarifies, describes
from recjury.judges.measured.reading import Reading, ReadTurn


def incoherent(turn: ReadTurn, said: frozenset[str]) -> str | None:
    """Why a system's turn does not answer the turn before it; None if it does.

    `said` are the texts of the system's earlier turns, as `Utterance.same`.
    """
    utterance = turn.utterance
    if turn.failed or not utterance.words:
        return "no answer"
    if utterance.same in said and utterance.same.count(" ") > 1:
        return "its own words again"
    if turn.asked is None:
        return None
    ask = ask_of(turn.asked.utterance)
    if ask is Ask.ABOUT_ITEM:
        return None if _says_something(turn) else "nothing about the item asked about"
    if ask is Ask.NOTHING or clarifies(utterance) is not None:
        return None
    if not turn.said.named:
        return "asked for a recommendation, named none"
    if not turn.new_films:
        return "asked for a recommendation, named none that was new"
    return None


def _says_something(turn: ReadTurn) -> bool:
    """It describes a film, and not only one that nobody asked about."""
    if not describes(turn.utterance):
        return False
    asked = turn.asked.keys if turn.asked is not None else frozenset()
    wanted = asked or frozenset(turn.earlier[-1:])
    return not turn.said.named or not wanted or bool(turn.said.keys & wanted)


def coherence(reading: Reading) -> Outcome:
    """0, 1, 2, 3 such turns are 4, 3, 2, 1; four or more are 0."""
    if not reading.system:
        return not_applicable("the system had no turn")
    found: list[Finding] = []
    said: frozenset[str] = frozenset()
    for turn in reading.system:
        reason = incoherent(turn, said)
        if reason is not None:
            found.append(Finding(turn.number, reason))
        said |= {turn.utterance.same}
    if not found:
        return scored(4, f"all {counted(len(reading.system), 'turn')} answer the user")
    return scored(from_errors(len(found)), f"{counted(len(found), 'missed turn')}: {listed(found)}")
