"""Whether each turn of the system answers the user's turn before it."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedLog, SystemTurn, UserTurn
from recjury.judges.measured.needs import DOUBTFUL, NO_CATALOGUE, NOT_ENGLISH
from recjury.judges.measured.outcome import Finding
from recjury.judges.measured.questions import question_to_user
from recjury.judges.measured.said import words_of
from recjury.judges.measured.wishes import misfit
from recjury.knowledge import attributes_of
from recjury.records import Act, DomainAttribute, Item

OBJECTIONS = frozenset({Act.REFUSE, Act.SEEN, Act.COMPLAIN})
_REQUESTS = OBJECTIONS | {Act.WISH, Act.ASK}
_DECIDING = _REQUESTS | {Act.BYE}
_PLEASED = frozenset({Act.ACCEPT, Act.THANK})
_SENSELESS = frozenset({"garbled", "loop", "mixed_languages", "empty"})
_TWICE = 2
_PLOT_WORDS = 2
_LONG_WORD = 5


class Answer(NamedTuple):
    """Whether a system's turn answers: `missed` says why not, None if it does.

    `doubt` says why that cannot be seen; it is empty if it can.
    """

    turn: SystemTurn
    missed: Finding | None
    doubt: str = ""


def answers(log: AnnotatedLog) -> tuple[Answer, ...]:
    """One answer for each turn of the system, in order."""
    return tuple(_answer(log, turn) for turn in log.system)


def doubt_of(doubtful: Sequence[Answer]) -> str:
    """The most frequent doubt, and which turns it is about."""
    reason = Counter(each.doubt for each in doubtful).most_common(1)[0][0]
    numbers = [str(each.turn.place + 1) for each in doubtful if each.doubt == reason]
    return f"{reason} (turn {', '.join(numbers)})" if reason == DOUBTFUL else reason


def _answer(log: AnnotatedLog, turn: SystemTurn) -> Answer:
    plain = _no_answer_to_anything(turn)
    if plain is not None or turn.user is None:
        return Answer(turn, plain)
    reading = turn.user.reading
    if not reading.english:
        return Answer(turn, None, NOT_ENGLISH)
    doubtful = [act for act in sorted(_DECIDING) if reading.does(act) is None]
    if not log.knows_items:
        carefree = reading.yes & _PLEASED or not turn.wish
        sure = not doubtful and not reading.yes & _DECIDING and carefree
        return Answer(turn, None, "" if sure else NO_CATALOGUE)
    missed = missed_by(log, turn, reading.yes)
    changed = any(
        (missed_by(log, turn, reading.yes | {act}) is None) != (missed is None) for act in doubtful
    )
    return Answer(turn, missed, DOUBTFUL if changed else "")


def _no_answer_to_anything(turn: SystemTurn) -> Finding | None:
    """Why the turn answers nothing at all; None if it may be an answer."""
    if not turn.spoke:
        return Finding(turn.place, "no answer", "no answer")
    if turn.same_as is not None:
        note = f"the words of turn {turn.same_as + 1} again"
        return Finding(turn.place, "said again", note, turn.turn.text)
    check = turn.check
    if turn.broken and check is not None and check.kind in _SENSELESS:
        return Finding(turn.place, "no sense", f"makes no sense: {check.quote!r}", check.quote)
    if turn.user is not None and len(turn.template_of) >= _TWICE:
        note = f"the answer of turn {turn.template_of[0] + 1} again, with another name"
        return Finding(turn.place, "said again", note, turn.turn.text)
    return None


def missed_by(log: AnnotatedLog, turn: SystemTurn, acts: frozenset[Act]) -> Finding | None:
    """Why a turn does not answer a user's turn that does these acts; None if it does."""
    plain = _no_answer_to_anything(turn)
    if plain is not None or turn.user is None:
        return plain
    missed = _not_served(log, turn, acts)
    if Act.ASK in acts:
        not_told = _not_told(log, turn, turn.user)
        missed = not_told if missed is None or not acts & (_REQUESTS - {Act.ASK}) else missed
    return None if missed is None else Finding(turn.place, *missed)


def _not_served(
    log: AnnotatedLog, turn: SystemTurn, acts: frozenset[Act]
) -> tuple[str, str] | None:
    """Why the items of a turn are none that the user's turn calls for."""
    if turn.new:
        if Act.BYE in acts and not acts & _REQUESTS:
            return "goes on", f"goes on to {turn.new[0].text!r} after the goodbye"
        items = log.items_of(turn.new)
        wrong = misfit(items, len(turn.new) - len(items), turn.wish, log.catalogue)
        if wrong is None:
            return None
        return "unmet wish", f"wished for {turn.wish}, offered {wrong.name!r}"
    if not acts & (_REQUESTS - {Act.ASK}) or question_to_user(turn.said, log.domain):
        return None
    if acts & OBJECTIONS and turn.said.named:
        return "nothing new", f"only {turn.said.named[0].text!r} again after an objection"
    return "nothing new", f"no {log.domain.item} and no question after " + (
        "an objection" if acts & OBJECTIONS else "a request"
    )


def _not_told(log: AnnotatedLog, turn: SystemTurn, user: UserTurn) -> tuple[str, str] | None:
    """Why a turn does not answer a question; None if it may.

    It does if it says a value of the item asked about: of the attribute asked for, if the
    catalogue knows it. Without a known item it does unless it only asks back or goes on to others.
    """
    if not turn.said.named and all(each.is_question for each in turn.said.sentences):
        return "not told", "a question instead of an answer"
    named = log.items_of(user.said.named)
    surely = [log.catalogue.item(id_) for id_ in user.reading.items if id_ in log.catalogue]
    last = [turn.last_item] if turn.last_item in log.catalogue else []
    items = surely or list(named) or [log.catalogue.item(id_) for id_ in last if id_]
    if any(_tells_of(log, turn, item, user) for item in items):
        return None
    about = items[0].name if items else "the question"
    if turn.new and not turn.said.keys & {item.id for item in items}:
        return "not told", f"asked about {about!r}, told of {turn.new[0].text!r}"
    known = (surely or named) and any(log.catalogue.domain_of(i).describes(i) for i in items)
    return ("not told", f"nothing about {about!r}, which was asked about") if known else None


def _tells_of(log: AnnotatedLog, turn: SystemTurn, item: Item, user: UserTurn) -> bool:
    """Whether a turn says a value of the item, two words of its plot, or a word of the question."""
    domain = log.catalogue.domain_of(item)
    asked = [
        attribute
        for act in user.turn.acts
        if act.act is Act.ASK and (attribute := domain.attribute(act.attribute)) is not None
    ]
    known = [attribute for attribute in asked if attribute.of(item)]
    if known:
        return any(says_value(turn, item, attribute) for attribute in known)
    if any(turn.said.says(each.value) for each in attributes_of(item, domain)):
        return True
    words = {token.key for token in turn.said.tokens if len(token.key) >= _LONG_WORD}
    title = set(words_of(item.name).split())
    plot = set(words_of(item.plot).split())
    question = {
        token.key for part in user.said.sentences if part.is_question for token in part.words
    }
    return len(words & plot - title) >= _PLOT_WORDS or bool(words & question - title)


def says_value(turn: SystemTurn, item: Item, attribute: DomainAttribute) -> bool:
    """Whether a turn says one of the item's values of an attribute."""
    return any(turn.said.says(value) for value in attribute.of(item))
