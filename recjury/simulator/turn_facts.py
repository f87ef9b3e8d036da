"""What the rule user understands of a system's turn, by look-ups: items, questions, repeats."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from recjury.knowledge import Catalogue, fold
from recjury.knowledge.text_cache import cached_by_text
from recjury.language import read_reply
from recjury.language.tokens import LONGEST, sentence_texts
from recjury.records import Domain, DomainAttribute, Speaker, Turn

# Of fluent replies with several titles, the reader finds up to a quarter broken at .7, and one in a
# hundred at .95.
_SURELY_BROKEN = 0.95
_TEXTS_KEPT = 4096


class TurnFacts(NamedTuple):
    """What was understood of a system's turn.

    `named` are the items that its text names, in order; those that the person named in the history
    are left out where there are others, since a suggestion may be compared to them. `asked` are the
    attributes of the domain that it asks about; `asks` says that it asks anything, `asks_done`
    whether the user has seen something. `repeated` says that it gave the same text before, and
    `only_titles` that it did so with other titles in it. `broken` says that the text makes no
    sense.
    """

    named: tuple[str, ...]
    asked: tuple[DomainAttribute, ...]
    asks: bool
    asks_done: bool
    repeated: bool
    only_titles: bool
    broken: bool


def turn_facts(
    turns: Sequence[Turn], catalogue: Catalogue, domain: Domain, known: Collection[str] = ()
) -> TurnFacts:
    """Understand the last of these turns, which the system has spoken.

    `known` are the items that the person named in the history.
    """
    *before, last = turns
    text = last.text
    earlier = [turn.text for turn in before if turn.speaker is Speaker.SYSTEM]
    mentions = [mention.id for mention in catalogue.link(text)]
    question = _questions(text)
    bare = bare_words(text, catalogue)
    return TurnFacts(
        named=tuple(dict.fromkeys([id_ for id_ in mentions if id_ not in known] or mentions)),
        asked=tuple(each for each in domain.attributes if _is_asked(each, question)),
        asks="?" in text,
        asks_done=domain.done != domain.verb and _spaced(domain.done) in question,
        repeated=any(words(text) == words(each) for each in earlier),
        only_titles=bool(mentions) and any(bare == bare_words(t, catalogue) for t in earlier),
        broken=makes_no_sense(text, before),
    )


def makes_no_sense(text: str, before: Sequence[Turn]) -> bool:
    """Whether hardly anybody would understand a reply: a person does not ask back for less."""
    check = read_reply(text, before)
    return check.broken is True and check.probability >= _SURELY_BROKEN


@cached_by_text(_TEXTS_KEPT)
def words(text: str) -> str:
    """The folded words of a text with single spaces, letters and digits alone."""
    return " ".join("".join(sign if sign.isalnum() else " " for sign in fold(text)).split())


def bare_words(text: str, catalogue: Catalogue) -> str:
    """The words of a text without the titles in it."""
    parts, at = [], 0
    for mention in catalogue.link(text):
        parts.append(text[at : mention.start])
        at = mention.end
    return words(" ".join((*parts, text[at:])))


def _questions(text: str) -> str:
    """The words of the questions of a text, between spaces."""
    asked = (each for each in sentence_texts(text[-LONGEST:]) if each.rstrip().endswith("?"))
    return _spaced(" ".join(asked))


def _is_asked(attribute: DomainAttribute, question: str) -> bool:
    names = (attribute.word, attribute.words, *attribute.asked)
    return any(_spaced(name) in question for name in names)


@cached_by_text(_TEXTS_KEPT)
def _spaced(text: str) -> str:
    return f" {words(text)} "
