"""What the person has said and done so far, before the simulation and in it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recjury.knowledge import Catalogue
from recjury.language import Reading, read, read_sentences
from recjury.language.reader import RULED_OUT, SURE
from recjury.language.wishes import takes_back
from recjury.records import Act, Attribute, DeclaredAct, Speaker, Turn

_SHORTEST_QUOTE, _LONGEST_QUOTE = 4, 25  # words
_SURE_QUOTE = 0.65  # below, what is read as a wish is often a remark
_OF_ITEMS = (Act.ACCEPT, Act.REFUSE, Act.SEEN, Act.ASK, Act.WISH)


class Quote(NamedTuple):
    """A sentence of the person, and whether it asks for information or says a wish."""

    text: str
    act: Act


class SaidSoFar(NamedTuple):
    """What a person's turns do: declared acts, and what is surely read in turns without.

    `acts` are in the order of the turns. `quote` is the last sentence that surely wishes, unless a
    later turn has a wish that was read, or a question of the person's last turn.
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
    """What the user's turns among these do; only those without declared acts are read."""
    acts: list[DeclaredAct] = []
    quote = None
    last = max((n for n, t in enumerate(turns) if t.speaker is Speaker.USER), default=-1)
    for at, turn in enumerate(turns):
        if turn.acts:
            acts += turn.acts
        elif turn.speaker is Speaker.USER:
            reading = read(turn, turns[:at], catalogue)
            done = [*_read_acts(reading._replace(wants=()) if takes_back(turn.text) else reading)]
            acts += done
            earlier = None if any(act.act is Act.WISH for act in done) else quote
            may = not {Act.WISH, Act.ASK} <= reading.no
            quote = (_quote(turn.text, turns[:at], may_ask=at == last) if may else None) or earlier
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


def _quote(said: str, before: Sequence[Turn], *, may_ask: bool) -> Quote | None:
    """The sentence of a turn that most surely wishes, or asks if it `may_ask`.

    Remarks, small talk, and sentences that are hardly more than a title are not quoted.
    """
    found: list[tuple[float, Quote]] = []
    for text, reading in read_sentences(said, before):
        if not _SHORTEST_QUOTE <= len(text.split()) <= _LONGEST_QUOTE:
            continue
        wish, ask = reading.acts[Act.WISH], reading.acts[Act.ASK]
        is_question = text.rstrip().endswith("?")
        if wish >= (SURE if is_question else _SURE_QUOTE):
            found.append((wish, Quote(_closed(text.strip()), Act.WISH)))
        elif may_ask and is_question and ask >= _SURE_QUOTE and (before or wish > RULED_OUT):
            found.append((ask, Quote(_closed(text.strip()), Act.ASK)))
    return max(found, key=lambda each: each[0])[1] if found else None


def _closed(sentence: str) -> str:
    closed = sentence if sentence[-1] in ".!?" else f"{sentence}."
    return closed[0].upper() + closed[1:]
