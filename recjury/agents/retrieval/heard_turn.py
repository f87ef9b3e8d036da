"""One turn of the user: what it does, and in what way it names items."""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.knowledge import Catalogue
from recjury.language import read
from recjury.language.tokens import sentence_texts
from recjury.language.wishes import clause_at, clauses_of
from recjury.records import Act, Attribute, Turn

# The acts by which a user answers an offer or goes on.
_ANSWERS = frozenset({Act.ACCEPT, Act.REFUSE, Act.SEEN, Act.WISH, Act.ASK})


class HeardTurn(NamedTuple):
    """What a turn does, and the ids of the items that it names, in order.

    `acts` are those that it surely does. `wants` are the wished values and examples.
    `seen` are the items in a sentence that says so, `refused` those in a clause or sentence that
    refuses; `topics` are neither, and no examples of what is wanted ("something like Heat").
    """

    acts: frozenset[Act]
    wants: tuple[Attribute, ...]
    named: tuple[str, ...]
    seen: tuple[str, ...]
    refused: tuple[str, ...]
    topics: tuple[str, ...]

    def does(self, *acts: Act) -> bool:
        """Whether the turn surely does one of these acts."""
        return not self.acts.isdisjoint(acts)


class _Sentence(NamedTuple):
    """The answers of the sentence that ends at a position of a turn."""

    end: int
    acts: frozenset[Act]


def hear(turn: Turn, before: Sequence[Turn], catalogue: Catalogue) -> HeardTurn:
    """Read a user's turn after the turns `before` it.

    A long turn hides a short refusal or question, which its sentence shows. An offer is accepted by
    a turn as a whole: praise stands before many a refusal. A turn that surely does nothing, but
    has a word of refusing, refuses.
    """
    whole = read(turn, before, catalogue)
    sentences = _sentences(turn, before)
    acts = (whole.yes & _ANSWERS).union(*(each.acts - {Act.ACCEPT} for each in sentences))
    if not acts and any(clause.refuses for clause in clauses_of(turn.text)):
        acts = frozenset({Act.REFUSE})
    examples = {each.value for each in whole.wants if each.kind == "like"}
    named, seen, refused, topics = [], [], [], []
    for mention in catalogue.link(turn.text):
        sentence = _at(sentences, mention.start)
        named.append(mention.id)
        if Act.SEEN in sentence.acts:
            seen.append(mention.id)
        refuses = Act.REFUSE in sentence.acts and Act.ASK not in whole.yes
        if refuses or clause_at(turn.text, mention.start).refuses:
            refused.append(mention.id)
        elif Act.SEEN not in sentence.acts and catalogue.item(mention.id).name not in examples:
            topics.append(mention.id)
    return HeardTurn(acts, whole.wants, *map(tuple, (named, seen, refused, topics)))


def _sentences(turn: Turn, before: Sequence[Turn]) -> list[_Sentence]:
    found: list[_Sentence] = []
    end = 0
    for text in sentence_texts(turn.text):
        end = turn.text.index(text, end) + len(text)
        reading = read(turn.model_copy(update={"text": text}), before)
        found.append(_Sentence(end, reading.yes & _ANSWERS))
    return found


def _at(sentences: Sequence[_Sentence], position: int) -> _Sentence:
    after = (each for each in sentences if position < each.end)
    return next(after, _Sentence(position, frozenset()))
