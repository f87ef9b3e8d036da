"""Whether each turn of the system answers the user's turn before it."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from recjury.judges.measured.annotated_log import AnnotatedLog, SystemTurn, UserTurn
from recjury.judges.measured.linked_text import words_of
from recjury.judges.measured.outcome import DOUBTFUL, Finding, Requirement
from recjury.judges.measured.proactiveness import question_to_user
from recjury.judges.measured.wishes import fits, misfit
from recjury.knowledge import attributes_of
from recjury.language.vocabulary import words
from recjury.records import Act, Item

OBJECTIONS = frozenset({Act.REFUSE, Act.SEEN, Act.COMPLAIN})
_FOR_ITEMS = OBJECTIONS | {Act.WISH}
_CLOSING = frozenset({Act.ACCEPT, Act.THANK, Act.BYE})
_DECIDING = (*sorted(_FOR_ITEMS), Act.ASK, Act.BYE)
_SENSELESS = ("garbled", "loop", "mixed_languages", "empty")
_PLOT_WORDS = 2


class TurnAnswer(NamedTuple):
    """Whether a system's turn answers: `missed` says why not, None if it does.

    `doubt` says why that cannot be seen; it is empty if it can.
    """

    turn: SystemTurn
    missed: Finding | None
    doubt: str = ""


@lru_cache(1)  # two judges ask for the answers of one log
def answers(log: AnnotatedLog) -> tuple[TurnAnswer, ...]:
    """One answer for each turn of the system, in order."""
    return tuple(_answer(log, turn) for turn in log.system)


def _answer(log: AnnotatedLog, turn: SystemTurn) -> TurnAnswer:
    plain = _no_answer_to_anything(turn)
    if plain is not None or turn.user is None:
        return TurnAnswer(turn, plain)
    reading = turn.user.reading
    if not reading.english:
        return TurnAnswer(turn, None, Requirement.ENGLISH)
    doubtful = [act for act in _DECIDING if reading.does(act) is None]
    if not len(log.catalogue):
        sure = not doubtful and not turn.wish and reading.yes.isdisjoint(_DECIDING)
        return TurnAnswer(turn, None, "" if sure else Requirement.CATALOGUE)
    missed = missed_by(log, turn, reading.yes)
    others = (missed_by(log, turn, reading.yes | {act}) for act in doubtful)
    changed = any((other is None) != (missed is None) for other in others)
    return TurnAnswer(turn, missed, DOUBTFUL if changed else "")


def _no_answer_to_anything(turn: SystemTurn) -> Finding | None:
    """Why the turn answers nothing at all; None if it may be an answer."""
    if not turn.spoke:
        return turn.finding("no answer", "no answer")
    # What is left of a template names nothing, unless an item stands beside it.
    return turn.flaw(*_SENSELESS, *(() if turn.said.named else ("residue",)))


def missed_by(log: AnnotatedLog, turn: SystemTurn, acts: frozenset[Act]) -> Finding | None:
    """Why a turn does not answer a user's turn that does these acts; None if it does.

    A question beside a wish for a value may be answered by a new item instead.
    """
    plain = _no_answer_to_anything(turn)
    if plain is not None or turn.user is None:
        return plain
    if turn.same_as is not None and acts.isdisjoint(_CLOSING):
        return turn.said_before()
    either = turn.new and (turn.user.reading.wants or Act.REFUSE in acts)
    asks = Act.ASK in acts and not either
    missed = _not_told(log, turn, turn.user) if asks else _not_served(log, turn, acts)
    return missed or _unconvincing(log, turn)


def _not_served(log: AnnotatedLog, turn: SystemTurn, acts: frozenset[Act]) -> Finding | None:
    """Why the items of a turn are none that the user's turn calls for."""
    if turn.new:
        first = turn.new[0].text
        if acts <= {Act.CHAT} and not turn.offered and not turn.wish:
            return turn.finding(
                "not asked for", f"offers {first!r} before the user wishes for anything", first
            )
        if Act.BYE in acts and acts.isdisjoint(_FOR_ITEMS | {Act.ASK}):
            return turn.finding("goes on", f"goes on to {first!r} after the goodbye", first)
        items = log.items_of(turn.new)
        wrong = misfit(items, len(turn.new) - len(items), turn.wish, log.catalogue)
        if wrong is None:
            return None
        return turn.finding("unmet wish", f"offers {wrong.name!r} to a wish for {turn.wish}", "")
    if acts.isdisjoint(_FOR_ITEMS) or _asks_on(log, turn, acts):
        return None
    before = "a request" if acts.isdisjoint(OBJECTIONS) else "an objection"
    only = (
        f"offers only {turn.said.named[0].text!r} again"
        if turn.said.named
        else "offers nothing new"
    )
    return turn.said_before() or turn.finding("nothing new", f"{only} after {before}")


def _asks_on(log: AnnotatedLog, turn: SystemTurn, acts: frozenset[Act]) -> bool:
    """Whether a turn without new items answers a request or an objection by a new question.

    It does not if it also states something of an item. To a complaint, a question is no answer from
    a system that never offered anything.
    """
    question = question_to_user(turn.said, log.domain)
    if question is None or words_of(question) in turn.asked or turn.said_before():
        return False
    states = any(part.named for part in turn.said.sentences if "?" not in part.text)
    return not states and (bool(turn.offered) or Act.COMPLAIN not in acts)


def _unconvincing(log: AnnotatedLog, turn: SystemTurn) -> Finding | None:
    """Whether the user next says a sentence again or declares to complain, and the catalogue does
    not know that the first item fits. What is only read as a complaint often is none."""
    then, items = turn.then, log.items_of(turn.new)
    if then is None or (items and fits(items[0], turn.wish, log.catalogue)):
        return None
    if then.repeats:
        return turn.finding("asked again", f"the user then repeats {then.repeats!r}")
    declares = then.reading.declared and Act.COMPLAIN in then.reading.yes
    return turn.finding("complaint", "the user then complains") if declares else None


def _not_told(log: AnnotatedLog, turn: SystemTurn, user: UserTurn) -> Finding | None:
    """Why a turn does not answer a question; None if it may.

    It does if it says a value of the item asked about: of the attribute asked for, if the
    catalogue knows it. Without a known item it does if it may tell anything at all.
    """
    said = turn.said
    if not said.named and all("?" in each.text for each in said.sentences):
        return turn.finding("not told", "asks instead of answering")
    asked_about = [act.item for act in user.turn.acts if act.act is Act.ASK and act.item]
    named = asked_about or (*user.reading.items, *(mention.key for mention in user.said.named))
    ids = dict.fromkeys(id_ for id_ in named or (turn.last_item,) if id_ in log.catalogue)
    items = [log.catalogue.item(id_) for id_ in ids if id_ is not None]
    if not items:
        other = f"tells of {turn.new[0].text!r}" if turn.new else "tells nothing"
        return (
            None if _tells(turn, user) else turn.finding("not told", f"{other} when the user asks")
        )
    asked = [value for item in items for value in _values_asked_for(log, item, user)]
    if any(said.says(value) for value in asked):
        return None
    if said.named and said.keys.isdisjoint(ids):
        other = said.named[0].text
        return turn.finding(
            "not told", f"tells of {other!r} when asked about {items[0].name!r}", other
        )
    if not asked and (not named or any(_tells_of(log, turn, item, user) for item in items)):
        return None
    return turn.finding("not told", f"does not tell what was asked about {items[0].name!r}")


def _tells(turn: SystemTurn, user: UserTurn) -> bool:
    """Whether a turn may answer a question about something that is not known.

    It does if it says a word of the question or a short answer, or names somebody or something.
    Once items were offered, new ones answer only a wish.
    """
    if turn.said.long_words & user.said.long_words:
        return True
    if turn.said.named:
        return not (turn.new and turn.offered and Act.WISH in user.reading.no)
    return turn.said.has_names or not words("short_answers").isdisjoint(turn.said.folded.split())


def _values_asked_for(log: AnnotatedLog, item: Item, user: UserTurn) -> Iterator[str]:
    """What the catalogue knows of the attributes for which the user declares to ask."""
    for act in user.turn.acts:
        attribute = log.catalogue.domain_of(item).attribute(act.attribute)
        if act.act is Act.ASK and attribute is not None:
            yield from attribute.of(item)


def _tells_of(log: AnnotatedLog, turn: SystemTurn, item: Item, user: UserTurn) -> bool:
    """Whether a turn says a value of the item, two words of its plot, or a word of the question.

    So does any turn if nothing is known of the item.
    """
    known = attributes_of(item, log.catalogue.domain_of(item))
    spoken = turn.said.long_words
    plot = spoken.intersection(words_of(item.plot).split())
    if len(plot) >= _PLOT_WORDS or not known or spoken & user.said.long_words:
        return True
    return any(turn.said.says(each.value) for each in known)
