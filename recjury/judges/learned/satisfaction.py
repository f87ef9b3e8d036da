"""The network that reads a whole dialogue: how satisfied its user is, and was in each turn.

It imports torch: import it late.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from recjury.judges.learned.counts import COUNTS, DialogueCounts
from recjury.judges.learned.encoder import WIDTH, AdaptedEncoder
from recjury.judges.learned.sequences import MARKS, MarkedSequence, SequenceMaker, padded
from recjury.records import Speaker, Turn

RATINGS = 5
_HIDDEN = 128
_SUMMARY = 4  # numbers about the ratings of the turns
_MIDDLE = 3.0
_DROPPED = 0.2
_TRAINED = 3  # layers


class ReadDialogue(NamedTuple):
    """A dialogue in the form that the network reads; `speakers` are those of all its turns."""

    sequence: MarkedSequence
    speakers: tuple[Speaker, ...]
    counts: np.ndarray[tuple[int], np.dtype[np.float32]]


class DialogueBatch(NamedTuple):
    """Dialogues as tensors; the masks are [dialogues, turns], and leave out turns that were cut.

    `states` is what the encoder's frozen layers made of the tokens. `pooling` [dialogues, turns,
    tokens] has the weight of each token in the mean of its turn; `last` is 1 for the last turn of
    the user.
    """

    states: Tensor
    marks: Tensor
    seen: Tensor
    pooling: Tensor
    of_user: Tensor
    of_system: Tensor
    last: Tensor
    counts: Tensor


class SatisfactionNet(nn.Module):
    """Reads dialogues; gives logits of the ratings 1 to 5, of each dialogue and of each turn."""

    def __init__(self, rank: int):
        """`rank` is that of the changes to the encoder."""
        super().__init__()
        self.encoder = AdaptedEncoder(MARKS, rank, trained=_TRAINED)
        self.attention = nn.Linear(WIDTH, 1)
        self.turn = nn.Linear(WIDTH, RATINGS)
        width = 4 * WIDTH + _SUMMARY + COUNTS
        self.hidden, self.out = nn.Linear(width, _HIDDEN), nn.Linear(_HIDDEN, RATINGS)
        self.direct = nn.Linear(width, RATINGS)
        nn.init.zeros_(self.attention.weight)
        nn.init.zeros_(self.direct.weight)
        self.count_means = nn.Parameter(torch.zeros(COUNTS), requires_grad=False)
        self.count_spreads = nn.Parameter(torch.ones(COUNTS), requires_grad=False)
        # The rating that divides defects from others, in a dialogue and in a turn.
        self.divides = nn.Parameter(torch.full((2,), _MIDDLE), requires_grad=False)

    def forward(self, batch: DialogueBatch) -> tuple[Tensor, Tensor]:
        """Logits [dialogues, 5] and [dialogues, turns, 5]."""
        states = self.encoder.upper(batch.states, batch.marks, batch.seen)
        turns = batch.pooling @ states
        turn_logits = self.turn(self._dropped(turns))
        there = batch.of_user + batch.of_system
        weights = self.attention(turns)[..., 0].masked_fill(there == 0, -1e4).softmax(1)
        read = [
            _mean(turns, batch.of_user),
            _mean(turns, batch.of_system),
            (turns * weights[..., None]).sum(1),
            states[:, 0],
            2 * _summary(expected_rating(turn_logits).detach(), batch),
            (batch.counts - self.count_means) / self.count_spreads,
        ]
        features = self._dropped(torch.cat(read, 1))
        hidden = self._dropped(functional.gelu(self.hidden(features)))
        return self.direct(features) + self.out(hidden), turn_logits

    def _dropped(self, states: Tensor) -> Tensor:
        return functional.dropout(states, _DROPPED, self.training)


def expected_rating(logits: Tensor) -> Tensor:
    """The mean rating [...] of logits [..., 5]."""
    ratings = torch.arange(1, RATINGS + 1, dtype=logits.dtype)
    return (logits.softmax(-1) * ratings).sum(-1)


def read_dialogue(turns: Sequence[Turn], maker: SequenceMaker, *, longest: int) -> ReadDialogue:
    """The dialogue in at most `longest` tokens, cut from the left; its counts are of all turns."""
    counts = DialogueCounts(turns, lambda text: len(maker.tokens(text))).values()
    speakers = tuple(turn.speaker for turn in turns)
    return ReadDialogue(maker.dialogue(turns, longest=longest), speakers, counts)


class DialogueBatcher:
    """Makes batches; what the encoder's frozen layers make of a dialogue is kept if `keep`."""

    def __init__(self, encoder: AdaptedEncoder, *, keep: bool = False):
        """The states take 1 kB a token in half precision."""
        self._encoder = encoder
        self._keep = keep
        self._kept: dict[int, Tensor] = {}

    def batch(self, dialogues: Sequence[ReadDialogue]) -> DialogueBatch:
        """The dialogues as one batch."""
        arrays = padded([each.sequence for each in dialogues])
        most = max(len(each.speakers) for each in dialogues)
        of_user = _of_speaker(dialogues, most, Speaker.USER)
        of_system = _of_speaker(dialogues, most, Speaker.SYSTEM)
        last = np.zeros_like(of_user)
        for row, places in enumerate(of_user):
            if places.any():
                last[row, np.flatnonzero(places)[-1]] = 1
        belongs = arrays.turns[:, None, :] == np.arange(most)[None, :, None]
        pooling = belongs / np.maximum(1, belongs.sum(-1, keepdims=True))
        rest = (
            *(arrays.marks, arrays.seen, pooling.astype(np.float32)),
            *(of_user, of_system, last, np.stack([each.counts for each in dialogues])),
        )
        tensors = [torch.from_numpy(array) for array in rest]
        tokens = torch.from_numpy(arrays.tokens)
        return DialogueBatch(self._states(dialogues, tokens, tensors[1]), *tensors)

    def _states(self, dialogues: Sequence[ReadDialogue], tokens: Tensor, seen: Tensor) -> Tensor:
        if not self._keep:
            return self._encoder.lower(tokens, seen)
        known = [self._kept.get(id(each)) for each in dialogues]
        if any(each is None for each in known):
            states = self._encoder.lower(tokens, seen)
            for each, row in zip(dialogues, states, strict=True):
                self._kept[id(each)] = row[: len(each.sequence.tokens)].half()
        filled = torch.zeros(*tokens.shape, WIDTH)
        for row, each in enumerate(dialogues):
            held = self._kept[id(each)]
            filled[row, : len(held)] = held
        return filled


def _of_speaker(
    dialogues: Sequence[ReadDialogue], most: int, speaker: Speaker
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """1 for each turn of the speaker that was not cut [dialogues, turns]."""
    mask = np.zeros((len(dialogues), most), dtype=np.float32)
    for row, each in enumerate(dialogues):
        for place in range(each.sequence.left_out, len(each.speakers)):
            mask[row, place] = each.speakers[place] is speaker
    return mask


def _mean(turns: Tensor, mask: Tensor) -> Tensor:
    return (turns * mask[..., None]).sum(1) / mask.sum(1).clamp(min=1)[:, None]


def _summary(ratings: Tensor, batch: DialogueBatch) -> Tensor:
    """Mean, lowest, last and spread of the ratings of the user's turns."""
    mask = batch.of_user
    count = mask.sum(1).clamp(min=1)
    mean = (ratings * mask).sum(1) / count
    spread = ((((ratings - mean[:, None]) ** 2) * mask).sum(1) / count + 1e-6).sqrt()
    lowest = ratings.masked_fill(mask == 0, RATINGS).amin(1)
    last = (ratings * batch.last).sum(1)
    return torch.stack([mean - _MIDDLE, lowest - _MIDDLE, last - _MIDDLE, spread], 1)
