"""What judges of answers keep of a conversation while they read it."""

from functools import lru_cache

from recjury.judges.measured.annotated_log import AnnotatedLog, AnnotatedText, AnnotatedTurn
from recjury.judges.measured.asks import Ask, ask_of
from recjury.judges.measured.frames import Frames
from recjury.judges.measured.naturalness import broken_sentences
from recjury.judges.measured.objections import objection_in
from recjury.judges.measured.text import MaskedText
from recjury.judges.measured.wishes import Wishes, unmet, wish_before
from recjury.knowledge import Catalogue
from recjury.knowledge.spoken_wishes import SpokenWish

_SHORT = 3
_REMEMBERED = 4096


class Conversed:
    """What a judge of answers needs to know of a log: its wishes, and what was said before."""

    def __init__(self, annotated: AnnotatedLog, wishes: Wishes):
        self.annotated = annotated
        self.wishes = wishes
        self.frames = Frames()
        self.said: set[str] = set()
        self.last: AnnotatedTurn | None = None

    @property
    def catalogue(self) -> Catalogue:
        """The items that are known."""
        return self.annotated.catalogue

    def unmet(self, turn: AnnotatedTurn) -> str | None:
        """Why no item that the turn is the first to name has what the user wishes for, or None.

        An earlier wish has lapsed when the user is pleased and asks for nothing.
        """
        if turn.asked is not None and _is_pleased(turn.asked) and not self.wishes.of(turn.asked):
            return None
        wish = wish_before(self.annotated, turn, self.wishes)
        return unmet(turn, wish, self.wishes, self.catalogue)

    def same_answer(self, turn: AnnotatedTurn) -> int | None:
        """The first of two earlier turns or more that this one repeats with another item."""
        earlier = self.frames.same_as(turn)
        return earlier[0] if len(earlier) > 1 else None

    def add(self, turn: AnnotatedTurn) -> None:
        """Remember a system's turn."""
        self.frames.add(turn)
        self.said.add(turn.utterance.same)
        self.last = turn


def _is_pleased(said: AnnotatedText) -> bool:
    """Whether a user's turn praises, and neither asks for anything nor objects."""
    utterance = said.utterance
    praises = SpokenWish(utterance.plain).praises
    return praises and ask_of(utterance) is Ask.NOTHING and objection_in(utterance) is None


@lru_cache(_REMEMBERED)
def senseless_part(utterance: MaskedText) -> str | None:
    """Why half of the sentences or more, without the short ones, make no sense; or None."""
    told = [sentence for sentence in utterance.sentences if len(sentence.words) > _SHORT]
    found = [next(broken_sentences(sentence), None) for sentence in told]
    broken = [what for what in found if what is not None]
    if not broken or 2 * len(broken) < len(told):
        return None
    return f"makes no sense: {broken[0].removeprefix('makes no sense: ')}"
