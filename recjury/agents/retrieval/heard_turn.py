"""One turn of the user: what it does, and in what way it names items."""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.knowledge import Catalogue
from recjury.language import read, read_sentences
from recjury.language.wishes import clause_at, clauses_of
from recjury.records import Act, Attribute, Turn

# The acts by which a user answers an offer or goes on.
_ANSWERS = frozenset({Act.ACCEPT, Act.REFUSE, Act.SEEN, Act.WISH, Act.ASK})


class HeardTurn(NamedTuple):
    """What a turn does, and the ids of the items that it names, in order.

    `acts` are those that it surely does. `wants` are the wished values and examples. `requested`
    are the items in a sentence that asks or wishes, `seen` those in one that says so, `refused`
    those in a clause or sentence that refuses, and `examples` show what is wanted ("like Heat").
    """

    acts: frozenset[Act]
    wants: tuple[Attribute, ...]
    named: tuple[str, ...]
    requested: frozenset[str]
    seen: frozenset[str]
    refused: frozenset[str]
    examples: frozenset[str]

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
    mentions = catalogue.link(turn.text)
    by_sentence = [(each.id, _acts_at(sentences, each.start)) for each in mentions]
    in_clause = {each.id for each in mentions if clause_at(turn.text, each.start).refuses}
    in_sentence = {id_ for id_, does in by_sentence if Act.REFUSE in does}
    likened = {each.value for each in whole.wants if each.kind == "like"}
    return HeardTurn(
        acts,
        whole.wants,
        named=tuple(each.id for each in mentions),
        requested=frozenset(id_ for id_, does in by_sentence if does & {Act.ASK, Act.WISH}),
        seen=frozenset(id_ for id_, does in by_sentence if Act.SEEN in does),
        refused=frozenset(in_clause if Act.ASK in acts else in_clause | in_sentence),
        examples=frozenset(e.id for e in mentions if catalogue.item(e.id).name in likened),
    )


def _sentences(turn: Turn, before: Sequence[Turn]) -> list[_Sentence]:
    found: list[_Sentence] = []
    end = 0
    for text, reading in read_sentences(turn.text, before):
        end = turn.text.index(text, end) + len(text)
        found.append(_Sentence(end, reading.yes & _ANSWERS))
    return found


def _acts_at(sentences: Sequence[_Sentence], position: int) -> frozenset[Act]:
    return next((each.acts for each in sentences if position < each.end), frozenset())
