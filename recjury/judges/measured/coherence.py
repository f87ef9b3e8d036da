"""Coherence: system turns that do not answer what the user said, counted."""

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
from recjury.judges.measured.asks import (
    Ask,
    ask_of,
    clarifies,
    describes,
    means_a_suggestion,
    says_goodbye,
)
from recjury.judges.measured.conversed import Conversed, senseless_part
from recjury.judges.measured.objections import objection_in
from recjury.judges.measured.questions import left_open, questions_in, says_yes_or_no
from recjury.judges.measured.wishes import Wishes


def incoherent(turn: AnnotatedTurn, conversed: Conversed) -> str | None:
    """Why a system's turn does not answer the turn before it; None if it answers."""
    utterance = turn.utterance
    if turn.failed or not utterance.words:
        return "no answer"
    if utterance.same in conversed.said and utterance.same.count(" ") > 1:
        return "its own words again"
    if turn.asked is None:
        return None
    earlier = conversed.same_answer(turn)
    if earlier is not None:
        return f"the answer of turn {earlier} again, with another item"
    senseless = senseless_part(utterance)
    if senseless is not None:
        return senseless
    ask = ask_of(turn.asked.utterance)
    direct = ask is Ask.NOTHING and bool(questions_in(turn.asked.utterance))
    if ask is Ask.ABOUT_ITEM or direct:
        return _not_told(turn, turn.asked)
    return _not_served(turn, turn.asked, ask, conversed)


def _not_told(turn: AnnotatedTurn, asked: AnnotatedText) -> str | None:
    """Why a turn does not answer a question about an item."""
    if _asks_back(turn):
        return "a question instead of an answer about the item"
    open_question = left_open(asked.utterance, turn.utterance)
    if open_question is not None:
        return f"asked {open_question}, not told"
    told = (
        describes(turn.utterance)
        or bool(questions_in(asked.utterance))
        or says_yes_or_no(asked.utterance, turn.utterance)
    )
    if _introduces(turn, asked) or (told and _stays_with(turn)):
        return None
    return "nothing about the item asked about"


def _not_served(
    turn: AnnotatedTurn, asked: AnnotatedText, ask: Ask, conversed: Conversed
) -> str | None:
    """Why a turn does not serve a user who asked for a recommendation, objected, or took leave."""
    if says_goodbye(asked.utterance):
        return "goes on recommending after the goodbye" if turn.new_films else None
    if _introduces(turn, asked):
        return None
    missed = conversed.unmet(turn)
    if missed is not None:
        return missed
    objects = objection_in(asked.utterance) is not None
    asks = not turn.said.named and clarifies(turn.utterance) is not None
    if asks or (ask is Ask.NOTHING and not objects):
        return None
    if not turn.said.named:
        return "asked for a recommendation, named none"
    if not turn.new_films:
        return "asked for a recommendation, named none that was new"
    return None


def _asks_back(turn: AnnotatedTurn) -> bool:
    """Whether the turn is nothing but a question, and names no item."""
    sentences = turn.utterance.sentences
    return not turn.said.named and all("?" in sentence.ending for sentence in sentences)


def _introduces(turn: AnnotatedTurn, asked: AnnotatedText) -> bool:
    """Whether the turn describes the film that the user named or meant by "the best match".

    It need not be new then, and a wish in the same turn needs no other film, unless the user
    objects.
    """
    if not describes(turn.utterance) or objection_in(asked.utterance) is not None:
        return False
    meant = means_a_suggestion(asked.utterance) and bool(turn.said.named)
    return meant or _begins_with(turn, asked.keys)


def _begins_with(turn: AnnotatedTurn, wanted: frozenset[str]) -> bool:
    """Whether the turn names one of these films before any that is new.

    A film that stands behind a new one is only compared with it ("..., as well as Heat").
    """
    new = {film.key for film in turn.new_films} - wanted
    return any(
        film.key in wanted and not any(each.key in new for each in turn.said.named[:at])
        for at, film in enumerate(turn.said.named)
    )


def _stays_with(turn: AnnotatedTurn) -> bool:
    """Whether the turn does not go on to films that the user did not ask about."""
    asked = turn.asked.keys if turn.asked is not None else frozenset()
    wanted = asked or frozenset(turn.earlier[-1:])
    return not turn.said.named or not wanted or _begins_with(turn, wanted)


def coherence(annotated: AnnotatedLog, wishes: Wishes) -> Outcome:
    """The lower one of two scores: that of the number of turns that do not answer, and that of the
    share of turns that do."""
    if not annotated.system:
        return not_applicable("the system had no turn")
    found: list[Occurrence] = []
    conversed = Conversed(annotated, wishes)
    for turn in annotated.system:
        reason = incoherent(turn, conversed)
        if reason is not None:
            found.append(Occurrence(turn.number, reason))
        conversed.add(turn)
    total = len(annotated.system)
    if not found:
        return score_of(4, f"all {counted(total, 'turn')} answer the user")
    score = min(from_errors(len(found)), from_share(total - len(found), total))
    summary = f"{counted(len(found), 'missed turn')} of {total}"
    return score_of(score, f"{summary}: {join_first(found)}")
