"""What the person has said and done so far, before the simulation and in it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recjury.knowledge import Catalogue
from recjury.language import Reading, read
from recjury.language.tokens import sentence_texts
from recjury.records import Act, Attribute, DeclaredAct, Speaker, Turn

_LONGEST_QUOTE = 25  # words
_TELLING_QUOTE = 4
_OF_ITEMS = (Act.ACCEPT, Act.REFUSE, Act.SEEN, Act.ASK, Act.WISH)
_EMPTY_TALK = frozenset({Act.THANK, Act.BYE, Act.CHAT, Act.ACCEPT})


class Quote(NamedTuple):
    """A sentence of the person, and whether it asks for information or says a wish."""

    text: str
    act: Act


class SaidSoFar(NamedTuple):
    """What a person's turns do: declared acts, and what is surely read in turns without.

    `acts` are in the order of the turns. `quote` is the last
    sentence that says something.
    """

    acts: tuple[DeclaredAct, ...]
    quote: Quote | None

    def items(self, *acts: Act) -> frozenset[str]:
        """The items that these acts are about."""
        return frozenset(each.item for each in self.acts if each.act in acts and each.item)

    @property
    def refused(self) -> frozenset[Attribute]:
        """The values that were turned down and not wished for afterwards."""
        found: set[Attribute] = set()
        for act in self.acts:
            if act.wish is not None:
                (found.add if act.act is Act.REFUSE else found.discard)(act.wish)
        return frozenset(found)

    @property
    def wishes(self) -> tuple[DeclaredAct, ...]:
        """The wishes for a value or for something like an item, the last ones first."""
        refused, down = self.refused, self.items(Act.REFUSE)
        found = (
            each
            for each in reversed(self.acts)
            if each.act is Act.WISH
            and ((each.wish and each.wish not in refused) or (each.item and each.item not in down))
        )
        return tuple(dict.fromkeys(found))


def said_so_far(turns: Sequence[Turn], catalogue: Catalogue) -> SaidSoFar:
    """Read the user's turns among these."""
    acts: list[DeclaredAct] = []
    quote = None
    for at, turn in enumerate(turns):
        if turn.speaker is Speaker.USER:
            reading = read(turn, turns[:at], catalogue)
            acts += turn.acts or _read_acts(reading)
            later = None if turn.acts else _quote(turn.text, reading)
            if later is not None and (quote is None or _is_telling(later.text)):
                quote = later
    return SaidSoFar(tuple(acts), quote)


def _read_acts(reading: Reading) -> Iterator[DeclaredAct]:
    """The acts that a turn surely does, about the items that it names."""
    for want in reading.wants:
        if want.kind != "year":  # most years stand beside a title
            yield DeclaredAct(act=Act.WISH, attribute=want.kind, value=want.value)
    for value in reading.rejects:
        yield DeclaredAct(act=Act.REFUSE, attribute=value.kind, value=value.value)
    known = not reading.yes.isdisjoint({Act.SEEN, Act.REFUSE})
    for act in _OF_ITEMS:
        if act in reading.yes and not (act is Act.WISH and known):
            yield from (DeclaredAct(act=act, item=item) for item in reading.items)


def _quote(text: str, reading: Reading) -> Quote | None:
    """The longest sentence of a turn, if that is not too long; None for mere thanks and the like.

    A turn that the reader is not sure of is quoted: the person has said it in any case.
    """
    found = [each for each in sentence_texts(text) if len(each.split()) <= _LONGEST_QUOTE]
    only_talks = {Act.WISH, Act.ASK} <= reading.no and bool(reading.yes & _EMPTY_TALK)
    if not found or only_talks:
        return None
    said = max(found, key=len).strip()
    surely_asks = reading.does(Act.ASK) is True and reading.does(Act.WISH) is not True
    asks = surely_asks and said.endswith("?")
    closed = said if said[-1] in ".!?" else f"{said}."
    return Quote(closed[0].upper() + closed[1:], Act.ASK if asks else Act.WISH)


def _is_telling(sentence: str) -> bool:
    return len(sentence.split()) >= _TELLING_QUOTE
