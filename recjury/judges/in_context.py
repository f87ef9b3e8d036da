"""In-context examples: rated dialogues that stand beside what is rated (Jia et al. 2024, 4)."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from recjury.corpora.drawing import lot
from recjury.judges.rated_dialogues import RatedDialogue
from recjury.records import Turn, text_hash

if TYPE_CHECKING:
    import bm25s

Choice = Literal["random", "bm25"]
"""How examples are chosen: drawn, or the most similar ones."""

_LONG, _SHARED = 20, 3  # characters of an utterance, and how many of these copies share
_WORD = re.compile(r"\w+")


class Examples:
    """Chooses examples for what is rated: never of the same dialogue or a copy of it."""

    def __init__(self, rated: Sequence[RatedDialogue], choice: Choice, seed: int):
        """`rated` is what is chosen from."""
        self._rated, self._seed = rated, seed
        # of one dialogue, the longest comes last
        self._long = {each.dialogue: _long(each.turns) for each in rated}
        self._index = _index(rated) if choice == "bm25" else None

    def of(
        self, turns: Sequence[Turn], whole: Sequence[Turn], number: int, draw: int
    ) -> list[RatedDialogue]:
        """`number` examples for `turns` of the dialogue `whole`; the most similar one is last.

        `draw` tells random draws apart.
        """
        own, chosen = _long(whole), list[RatedDialogue]()
        for place in self._places(_text(turns), draw):
            each = self._rated[place]
            shared = len(own & self._long[each.dialogue])
            if shared < max(1, min(_SHARED, len(own), len(self._long[each.dialogue]))):
                chosen.append(each)
            if len(chosen) == number:
                break
        return chosen[::-1]

    def _places(self, text: str, draw: int) -> Sequence[int]:
        places, words = range(len(self._rated)), _words(text)
        if self._index is None:
            rated = text_hash(text)
            return sorted(places, key=lambda place: lot(self._seed, draw, rated, place))
        if not words:
            return places
        found: list[int] = (-self._index.get_scores(words)).argsort(kind="stable").tolist()
        return found


def _index(rated: Sequence[RatedDialogue]) -> "bm25s.BM25":
    import bm25s

    index = bm25s.BM25()
    index.index([_words(_text(each.turns)) for each in rated], show_progress=False)
    return index


def _text(turns: Sequence[Turn]) -> str:
    return "\n".join(turn.text for turn in turns)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _long(turns: Sequence[Turn]) -> frozenset[str]:
    """The utterances by which copies of a dialogue are known."""
    texts = (" ".join(_words(turn.text)) for turn in turns)
    return frozenset(text for text in texts if len(text) >= _LONG)
