"""Coherence: system turns that do not answer what the user asked, counted."""

from recjury.judges.measured.anchors import (
    Occurrence,
    Outcome,
    counted,
    from_errors,
    join_first,
    not_applicable,
    score_of,
)
from recjury.judges.measured.annotated_log import AnnotatedLog, AnnotatedText, AnnotatedTurn
from recjury.judges.measured.asks import Ask, ask_of, clarifies, describes, means_a_suggestion
from recjury.judges.measured.objections import objection_in


def incoherent(turn: AnnotatedTurn, said: frozenset[str]) -> str | None:
    """Why a system's turn does not answer the turn before it; None if it answers.

    `said` are the texts of the system's earlier turns, as `MaskedText.same`.
    """
    utterance = turn.utterance
    if turn.failed or not utterance.words:
        return "no answer"
    if utterance.same in said and utterance.same.count(" ") > 1:
        return "its own words again"
    if turn.asked is None:
        return None
    ask = ask_of(turn.asked.utterance)
    if _introduces(turn, turn.asked):
        return None
    if ask is Ask.ABOUT_ITEM:
        return None if _says_something(turn) else "nothing about the item asked about"
    if ask is Ask.NOTHING or clarifies(utterance) is not None:
        return None
    if not turn.said.named:
        return "asked for a recommendation, named none"
    if not turn.new_films:
        return "asked for a recommendation, named none that was new"
    return None


def _introduces(turn: AnnotatedTurn, asked: AnnotatedText) -> bool:
    """Whether the turn describes the film that the user named or meant by "the best match".

    It need not be new then, and a wish in the same turn needs no other film, unless the user
    objects.
    """
    if not describes(turn.utterance) or objection_in(asked.utterance) is not None:
        return False
    meant = means_a_suggestion(asked.utterance) and bool(turn.said.named)
    return meant or bool(asked.keys & turn.said.keys)


def _says_something(turn: AnnotatedTurn) -> bool:
    """Whether the turn describes a film, and not only films that the user did not ask about."""
    if not describes(turn.utterance):
        return False
    asked = turn.asked.keys if turn.asked is not None else frozenset()
    wanted = asked or frozenset(turn.earlier[-1:])
    return not turn.said.named or not wanted or bool(turn.said.keys & wanted)


def coherence(annotated: AnnotatedLog) -> Outcome:
    """0 to 3 turns that do not answer score 4, 3, 2, 1; four or more score 0."""
    if not annotated.system:
        return not_applicable("the system had no turn")
    found: list[Occurrence] = []
    said: frozenset[str] = frozenset()
    for turn in annotated.system:
        reason = incoherent(turn, said)
        if reason is not None:
            found.append(Occurrence(turn.number, reason))
        said |= {turn.utterance.same}
    if not found:
        return score_of(4, f"all {counted(len(annotated.system), 'turn')} answer the user")
    return score_of(
        from_errors(len(found)), f"{counted(len(found), 'missed turn')}: {join_first(found)}"
    )
