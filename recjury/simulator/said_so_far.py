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
            later = None if turn.acts else _quote(turn, turns[:at], reading)
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


def _quote(turn: Turn, before: Sequence[Turn], reading: Reading) -> Quote | None:
    """The sentence of a turn that most surely wishes or asks, if it is not too long.

    A sentence that the reader is not sure of is quoted if it may do so, and surely does nothing
    else.
    """
    found: list[tuple[str, Reading]] = []
    for text in sentence_texts(turn.text):
        is_whole = text.strip() == turn.text.strip()
        alone = reading if is_whole else read(turn.model_copy(update={"text": text}), before)
        may = not alone.yes and not {Act.WISH, Act.ASK} <= alone.no
        if (alone.yes & {Act.WISH, Act.ASK} or may) and len(text.split()) <= _LONGEST_QUOTE:
            found.append((text.strip(), alone))
    if not found:
        return None
    said, alone = max(found, key=lambda each: max(each[1].acts[Act.WISH], each[1].acts[Act.ASK]))
    asks = alone.does(Act.ASK) is True and alone.does(Act.WISH) is not True and said.endswith("?")
    closed = said if said[-1] in ".!?" else f"{said}."
    return Quote(closed[0].upper() + closed[1:], Act.ASK if asks else Act.WISH)


def _is_telling(sentence: str) -> bool:
    return len(sentence.split()) >= _TELLING_QUOTE
