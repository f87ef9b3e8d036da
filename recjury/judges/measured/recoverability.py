"""Recoverability: the number of errors that the user points out and the system leaves."""

from typing import NamedTuple

from recjury.judges.measured.anchors import (
    Occurrence,
    Outcome,
    counted,
    from_errors,
    from_share,
    join_first,
    not_applicable,
    score_of,
)
from recjury.judges.measured.annotated_log import AnnotatedLog, AnnotatedText, AnnotatedTurn
from recjury.judges.measured.asks import Ask, ask_of, clarifies, describes, gives_way
from recjury.judges.measured.conversed import Conversed, senseless_part
from recjury.judges.measured.objections import Objection, answers, objection_in
from recjury.judges.measured.questions import left_open
from recjury.judges.measured.wishes import Wishes
from recjury.knowledge import split_year

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


class Left(NamedTuple):
    """What of an objection is left, and how many halves of it."""

    what: str
    halves: int = 2


def left(turn: AnnotatedTurn, how: Objection, conversed: Conversed) -> Left | None:
    """Why a system's turn does not react to an objection; None if it does.

    It names a new film that fits the objection and the wish, asks about wishes without naming one,
    or describes the film that the user asked about; if the user called something wrong, it takes
    that back. A turn that repeats an earlier one does not react. One that begins with what was
    refused and then names a new film that fits reacts by half.
    """
    utterance, asked = turn.utterance, turn.asked
    if turn.failed or asked is None or not utterance.words or utterance.same in conversed.said:
        return Left("not answered")
    senseless = senseless_part(utterance)
    if senseless is not None:
        return Left(f"answered with what {senseless}")
    if conversed.same_answer(turn) is not None:
        return Left("answered as before, with another item")
    if how.is_correction and gives_way(utterance):
        return None
    if ask_of(asked.utterance) is Ask.ABOUT_ITEM:
        return None if _about(turn, asked) else Left("not answered")
    if not turn.said.named and clarifies(utterance) is not None:
        return None
    missed = _not_met(turn, asked, how, conversed)
    back = _comes_back(turn, asked, conversed)
    if missed is None and back is not None:
        return Left(f"answered with {back!r} again, half", 1)
    return None if missed is None else Left(missed)


def _not_met(
    turn: AnnotatedTurn, asked: AnnotatedText, how: Objection, conversed: Conversed
) -> str | None:
    """Why the films of a turn are not what the objection and the wish ask for, or None."""
    if not turn.new_films:
        return "not answered"
    unmet = conversed.unmet(turn)
    if unmet is not None:
        return f"not met: {unmet}"
    catalogue = conversed.catalogue
    known = [film.id for film in turn.new_films if film.id is not None]
    if len(known) < len(turn.new_films):
        return None
    if any(answers(catalogue.item(id_), how, asked, catalogue) for id_ in known):
        return None
    return f"answered with {turn.new_films[0].text!r}, which does not fit it"


def _comes_back(turn: AnnotatedTurn, asked: AnnotatedText, conversed: Conversed) -> str | None:
    """The film that the user refused, if the answer begins with it.

    It is one that the user named, or else one of those that the system offered last.
    """
    last = conversed.last
    refused = asked.named or (() if last is None else last.said.named)
    first = turn.said.named[0].text if turn.said.named else ""
    titles = {_title(film.text) for film in refused}
    return first if first and _title(first) in titles else None


def _title(text: str) -> str:
    return split_year(text).title.casefold()


def _about(turn: AnnotatedTurn, asked: AnnotatedText) -> bool:
    same_film = not turn.said.named or not asked.keys or bool(turn.said.keys & asked.keys)
    told = describes(turn.utterance) and left_open(asked.utterance, turn.utterance) is None
    return told and same_film and "?" not in _endings(turn)


def _endings(turn: AnnotatedTurn) -> str:
    """The ending of the first sentence: an answer does not begin with a question."""
    sentences = turn.utterance.sentences
    return sentences[0].ending if sentences and not turn.said.named else ""


def recoverability(annotated: AnnotatedLog, wishes: Wishes) -> Outcome:
    """The lower one of two scores: that of the number of uncorrected errors, and that of the share
    of corrected ones.

    Without an error that the user points out, the score is 4. Only user turns between two system
    turns are objections: earlier ones have nothing to object to, later ones get no answer.
    """
    if not annotated.spoken:
        return not_applicable("the system said nothing")
    pointed_out = 0
    halves = 0
    found: list[Occurrence] = []
    asked: frozenset[str] = frozenset()
    conversed = Conversed(annotated, wishes)
    for turn in annotated.system:
        how = objection(turn, asked) if conversed.said else None
        if how is not None:
            pointed_out += 1
            missed = left(turn, how, conversed)
            if missed is not None:
                halves += missed.halves
                found.append(Occurrence(turn.number, f"{how} {missed.what}"))
        if turn.asked is not None:
            asked |= {turn.asked.utterance.same}
        conversed.add(turn)
    if not pointed_out:
        return score_of(4, "no error pointed out")
    summary = f"{halves / 2:g} of {counted(pointed_out, 'error')} pointed out not corrected"
    share = from_share(2 * pointed_out - halves, 2 * pointed_out)
    score = min(from_errors((halves + 1) // 2), share)
    return score_of(score, f"{summary}: {join_first(found)}" if found else summary)
