"""Dialogues and replies as token numbers with marks that say who speaks, cut from the left.

It imports tokenizers: import it late.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from recjury.judges.learned.encoder import LONGEST, tokenizer_file
from recjury.records import Speaker, Turn

_START, _END = 101, 102
_SPEAKER_WORDS = {Speaker.USER: 5310, Speaker.SYSTEM: 2291}  # "user" and "system"
_FULL_STOP = 1012
_PLAIN_QUOTES = str.maketrans("’‘“”", "''\"\"")

SPECIAL_MARK = 0
HISTORY_MARKS = {Speaker.SYSTEM: 1, Speaker.USER: 2}
REPLY_MARK = 3
MARKS = 4
"""How many kinds of tokens there are."""

NO_TURN = -1


class MarkedSequence(NamedTuple):
    """Token numbers, and the mark and the turn's index of each token; `NO_TURN` for special ones.

    `left_out` counts the oldest turns that the encoder has no room for.
    """

    tokens: list[int]
    marks: list[int]
    turns: list[int]
    left_out: int = 0


class SequenceMaker:
    """Turns texts into sequences; each text is tokenised once."""

    def __init__(self) -> None:
        """Read the vocabulary."""
        self._tokenizer = Tokenizer.from_file(str(tokenizer_file()))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._known: dict[str, list[int]] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Tokenise texts together, which is faster than one by one."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        plain = [text.translate(_PLAIN_QUOTES) for text in new]
        found = self._tokenizer.encode_batch(plain, add_special_tokens=False)
        self._known.update((text, each.ids) for text, each in zip(new, found, strict=True))

    def tokens(self, text: str) -> list[int]:
        """The token numbers of `text`."""
        if text not in self._known:
            self.learn([text])
        return self._known[text]

    def dialogue(self, turns: Sequence[Turn], *, longest: int = LONGEST) -> MarkedSequence:
        """The last turns that fit; at least one. A turn of more than half of `longest` is cut."""
        kept: list[tuple[int, list[int]]] = []
        room = longest - 2
        for place in range(len(turns) - 1, -1, -1):
            turn = turns[place]
            said = [_SPEAKER_WORDS[turn.speaker], *self.tokens(turn.text)[: longest // 2]]
            if len(said) > room:
                break
            kept.append((place, said))
            room -= len(said)
        tokens, marks, places = [_START], [SPECIAL_MARK], [NO_TURN]
        for place, said in reversed(kept):
            tokens += said
            marks += [HISTORY_MARKS[turns[place].speaker]] * len(said)
            places += [place] * len(said)
        return MarkedSequence(
            [*tokens, _END], [*marks, SPECIAL_MARK], [*places, NO_TURN], len(turns) - len(kept)
        )

    def history(self, turns: Sequence[Turn], *, longest: int, most: int) -> MarkedSequence:
        """The last `most` turns in `longest` tokens; the oldest of them may lose its beginning."""
        tokens, marks = self._before(turns, longest, most)
        return _closed([_START, *tokens], [SPECIAL_MARK, *marks])

    def reply(self, text: str, *, longest: int) -> MarkedSequence:
        """A reply alone."""
        said = [_SPEAKER_WORDS[Speaker.SYSTEM], *(self.tokens(text)[:longest] or [_FULL_STOP])]
        return _closed([_START, *said], [SPECIAL_MARK, *[REPLY_MARK] * len(said)])

    def _before(
        self, turns: Sequence[Turn], longest: int, most: int
    ) -> tuple[list[int], list[int]]:
        kept: list[tuple[list[int], int]] = []
        for turn in reversed(turns[-most:] if most else ()):
            said = [_SPEAKER_WORDS[turn.speaker], *self.tokens(turn.text)]
            if len(said) > longest:
                if longest > 4:
                    kept.append(([said[0], *said[1 - longest :]], HISTORY_MARKS[turn.speaker]))
                break
            kept.append((said, HISTORY_MARKS[turn.speaker]))
            longest -= len(said)
        tokens = [token for said, _ in reversed(kept) for token in said]
        marks = [mark for said, mark in reversed(kept) for _ in said]
        return tokens, marks


class PaddedBatch(NamedTuple):
    """Sequences of different lengths as arrays [sequences, tokens]; `seen` is False for padding."""

    tokens: NDArray[np.int64]
    marks: NDArray[np.int64]
    turns: NDArray[np.int64]
    seen: NDArray[np.bool_]


def padded(sequences: Sequence[MarkedSequence]) -> PaddedBatch:
    """The sequences, filled up to the longest one."""
    shape = (len(sequences), max(len(each.tokens) for each in sequences))
    batch = PaddedBatch(
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.full(shape, NO_TURN, dtype=np.int64),
        np.zeros(shape, dtype=np.bool_),
    )
    for row, each in enumerate(sequences):
        count = len(each.tokens)
        batch.tokens[row, :count] = each.tokens
        batch.marks[row, :count] = each.marks
        batch.turns[row, :count] = each.turns
        batch.seen[row, :count] = True
    return batch


def _closed(tokens: list[int], marks: list[int]) -> MarkedSequence:
    return MarkedSequence([*tokens, _END], [*marks, SPECIAL_MARK], [NO_TURN] * (len(tokens) + 1))
