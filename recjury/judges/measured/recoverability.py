"""Recoverability: the number of errors that the user points out and the system leaves."""

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
from recjury.judges.measured.asks import Ask, ask_of, clarifies, describes, gives_way
from recjury.judges.measured.objections import Objection, answers, objection_in
from recjury.knowledge import Catalogue

_AGAIN = "asked again"


def objection(turn: AnnotatedTurn, asked_before: frozenset[str]) -> Objection | None:
    """How the user's turn before a system's turn points out an error; None if it does not.

    A user who repeats a turn word for word points out that it was not answered.
    """
    if turn.asked is None:
        return None
    utterance = turn.asked.utterance
    if utterance.same in asked_before and utterance.same.count(" ") > 2:
        return Objection(_AGAIN)
    return objection_in(utterance)


def left(
    turn: AnnotatedTurn, said: frozenset[str], how: Objection, catalogue: Catalogue
) -> str | None:
    """Why a system's turn does not react to an objection; None if it does.

    It names a new film that fits the objection, asks about wishes, or describes the film that the
    user asked about; if the user called something wrong, it takes that back. A turn that repeats
    an earlier one does not react.
    """
    utterance, asked = turn.utterance, turn.asked
    if turn.failed or not utterance.words or utterance.same in said:
        return "not answered"
    if clarifies(utterance) is not None or (how.is_correction and gives_way(utterance)):
        return None
    if asked is not None and ask_of(asked.utterance) is Ask.ABOUT_ITEM and _about(turn, asked):
        return None
    if not turn.new_films:
        return "not answered"
    for film in turn.new_films:
        if film.id is None or asked is None:
            return None
        if answers(catalogue.item(film.id), how, asked, catalogue):
            return None
    return f"answered with {turn.new_films[0].text!r}, which does not fit it"


def _about(turn: AnnotatedTurn, asked: AnnotatedText) -> bool:
    same_film = not turn.said.named or not asked.keys or bool(turn.said.keys & asked.keys)
    return describes(turn.utterance) and same_film


def recoverability(annotated: AnnotatedLog) -> Outcome:
    """0 to 3 uncorrected errors score 4, 3, 2, 1; four or more score 0.

    Without an error that the user points out, the score is 4. Only user turns between two system
    turns are objections: earlier ones have nothing to object to, later ones get no answer.
    """
    if not annotated.spoken:
        return not_applicable("the system said nothing")
    pointed_out = 0
    found: list[Occurrence] = []
    asked: frozenset[str] = frozenset()
    said: frozenset[str] = frozenset()
    for turn in annotated.system:
        how = objection(turn, asked) if said else None
        if how is not None:
            pointed_out += 1
            missed = left(turn, said, how, annotated.catalogue)
            if missed is not None:
                found.append(Occurrence(turn.number, f"{how} {missed}"))
        if turn.asked is not None:
            asked |= {turn.asked.utterance.same}
        said |= {turn.utterance.same}
    if not pointed_out:
        return score_of(4, "no error pointed out")
    summary = f"{len(found)} of {counted(pointed_out, 'error')} pointed out not corrected"
    return score_of(
        from_errors(len(found)), f"{summary}: {join_first(found)}" if found else summary
    )
