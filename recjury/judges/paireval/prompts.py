"""The prompts of PairEval and DirectEval, and prompts with less of what is too long for a model."""

from collections.abc import Iterator
from typing import NamedTuple

from recjury.prompts import Pack, fence, load_pack, turns_block
from recjury.records import Level, Message, Response, Turn

PACK = "paireval"
PAIR_LABELS = ("A", "B")
DIRECT_LABELS = ("Yes", "No")

_KEPT = 0.75  # of the characters, each time that a prompt was too long


class Contender(NamedTuple):
    """What is judged: a `text` after its turns, or, if it is None, the dialogue of the turns."""

    turns: tuple[Turn, ...]
    text: str | None = None

    @property
    def level(self) -> Level:
        """Whether it is a turn or a dialogue."""
        return Level.DIALOGUE if self.text is None else Level.TURN

    @property
    def block(self) -> str:
        """It as a prompt shows it, fenced."""
        conversation = turns_block("conversation", self.turns)
        if self.text is None:
            return conversation
        return f"{conversation}\n<response>{fence(self.text)}</response>"

    @property
    def size(self) -> int:
        """The characters of its turns."""
        return sum(len(turn.text) for turn in self.turns)

    @property
    def least_turns(self) -> int:
        """How many of its turns must stay when it is cut: of a dialogue, one."""
        return int(self.text is None)


def contender_of(response: Response) -> Contender:
    """A response as a contender."""
    return Contender(response.history, response.text)


class PairPrompts:
    """Prompts that ask for one of two words: `pair` for the words of the two places in a
    comparison, `direct` for yes and no."""

    def __init__(
        self,
        pack: Pack | None = None,
        *,
        pair: tuple[str, str] = PAIR_LABELS,
        direct: tuple[str, str] = DIRECT_LABELS,
    ):
        """Read `pack`, by default the package's own."""
        self._pack = pack or load_pack(PACK)
        self.pair_labels = pair
        self.direct_labels = direct

    @property
    def identity(self) -> str:
        """Name, version and content hash of the pack, and the words that are asked for."""
        words = "/".join((*self.pair_labels, *self.direct_labels))
        return f"{self._pack.identity()} {words}"

    def pair(self, first: Contender, second: Contender) -> tuple[Message, ...]:
        """The prompt that asks which is better. Raises ValueError for a turn and a dialogue."""
        if first.level is not second.level:
            raise ValueError("a turn is compared with a turn, and a dialogue with a dialogue")
        labels = dict(zip(("first", "second"), self.pair_labels, strict=True))
        blocks = {"block_first": first.block, "block_second": second.block}
        asked = self._pack.render(f"pair_{first.level}", **labels, **blocks)
        return (Message("user", asked),)

    def direct(self, contender: Contender) -> tuple[Message, ...]:
        """The prompt that asks whether it is good."""
        yes, no = self.direct_labels
        asked = self._pack.render(
            f"direct_{contender.level}", block=contender.block, yes=yes, no=no
        )
        return (Message("user", asked),)


class Shortened(NamedTuple):
    """Contenders of one prompt, and how many of their oldest turns were left out, together."""

    contenders: tuple[Contender, ...]
    left_out: int


def shortened(contenders: tuple[Contender, ...]) -> Iterator[Shortened]:
    """The contenders as they are, and then with fewer and fewer of their oldest turns.

    Each time, about a quarter of the characters are left out, always from the longest. A response
    is never cut, and neither is the last turn of a dialogue.
    """
    left_out = 0
    yield Shortened(contenders, left_out)
    while any(_can_lose_a_turn(each) for each in contenders):
        room = _KEPT * sum(each.size for each in contenders)
        found = list(contenders)
        while sum(each.size for each in found) > room or tuple(found) == contenders:
            places = [place for place, each in enumerate(found) if _can_lose_a_turn(each)]
            if not places:
                break
            longest = max(places, key=lambda place: found[place].size)
            found[longest] = found[longest]._replace(turns=found[longest].turns[1:])
            left_out += 1
        contenders = tuple(found)
        yield Shortened(contenders, left_out)


def _can_lose_a_turn(contender: Contender) -> bool:
    return len(contender.turns) > contender.least_turns
