"""The network that reads replies: does one fit its history, and is it intact?

It imports torch: import it late.
"""

from collections.abc import Callable, Sequence
from math import exp
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from recjury.judges.learned.copying import copied_share
from recjury.judges.learned.encoder import WIDTH, AdaptedEncoder
from recjury.judges.learned.sequences import MARKS, MarkedSequence, SequenceMaker, padded
from recjury.records import Turn

HISTORY_TOKENS = 64
REPLY_TOKENS = 64
HISTORY_TURNS = 6

_COPIED = 6.0  # standard deviations for a reply that is a copy
_HIDDEN = 128
_DROPPED = 0.1
_TOGETHER = 16  # sequences

Reply = tuple[Sequence[Turn], str]
"""A history, oldest turn first, and what was answered."""


class ReplyReading(NamedTuple):
    """What is found in a reply: how well it fits its history and how intact it is, in standard
    deviations of people's replies from their mean, and the share of its words that are copied.

    `unread` counts the last tokens of the reply, for which there is no room.
    """

    fit: float
    intact: float
    copied: float
    unread: int = 0

    @property
    def score(self) -> float:
        """One number; people's replies have a mean of about 0.

        A reply that is less intact than people's mean loses as much; to be more intact wins
        nothing. Copied words cost up to `_COPIED` points: they fit all too well.
        """
        return self.fit + min(0.0, self.intact) - _COPIED * self.copied

    @property
    def quality(self) -> float:
        """The score as a number from 0 to 1; one half for the mean of people's replies."""
        return 1 / (1 + exp(-max(-30.0, min(30.0, self.score))))


class ReplyNet(nn.Module):
    """One encoder for histories and replies, and a head that tells whether a reply is intact.

    `scale` turns cosines into logits.
    """

    def __init__(self, rank: int):
        """`rank` is that of the changes to the encoder."""
        super().__init__()
        self.encoder = AdaptedEncoder(MARKS, rank)
        self.scale = nn.Parameter(torch.tensor(20.0))
        self.intact = nn.Sequential(
            nn.Linear(3 * WIDTH, _HIDDEN), nn.GELU(), nn.Dropout(_DROPPED), nn.Linear(_HIDDEN, 1)
        )
        # Mean and spread of the two scores of people's replies, so that they can be added up.
        self.fit_place = nn.Parameter(torch.tensor([0.0, 1.0]), requires_grad=False)
        self.intact_place = nn.Parameter(torch.tensor([0.0, 1.0]), requires_grad=False)

    def histories(self, sequences: Sequence[MarkedSequence]) -> Tensor:
        """Vectors [sequences, width] of unit length."""
        (vectors,) = _by_length(lambda some: (self._states(some).vector,), sequences)
        return vectors

    def replies(self, sequences: Sequence[MarkedSequence]) -> tuple[Tensor, Tensor]:
        """Vectors [sequences, width] of unit length, and logits [sequences] that each reply is
        whole and free of slips."""
        vectors, logits = _by_length(self._replies, sequences)
        return vectors, logits

    def _replies(self, sequences: Sequence[MarkedSequence]) -> tuple[Tensor, Tensor]:
        read = self._states(sequences)
        features = torch.cat([read.first, read.mean, read.most], 1)
        features = functional.dropout(features, _DROPPED, self.training)
        return read.vector, self.intact(features)[:, 0]

    def _states(self, sequences: Sequence[MarkedSequence]) -> "_Pooled":
        arrays = padded(sequences)
        tokens, marks, seen = (
            torch.from_numpy(array) for array in (arrays.tokens, arrays.marks, arrays.seen)
        )
        states = self.encoder(tokens, marks, seen).float()
        weights = seen.float()
        mean = (states * weights[..., None]).sum(1) / weights.sum(1)[:, None]
        most = states.masked_fill(~seen[..., None], -torch.inf).amax(1)
        return _Pooled(states[:, 0], mean, most)


class _Pooled(NamedTuple):
    """The states of the first token [sequences, width], their mean, and the highest of each."""

    first: Tensor
    mean: Tensor
    most: Tensor

    @property
    def vector(self) -> Tensor:
        """The mean with length 1."""
        return functional.normalize(self.mean, dim=1)


class ReplyReader:
    """Reads replies with a trained network."""

    def __init__(self, net: ReplyNet, maker: SequenceMaker):
        """Reads with `net`."""
        self._net = net
        self.maker = maker

    def read(self, replies: Sequence[Reply]) -> list[ReplyReading]:
        """What is found in each reply, in order."""
        net = self._net
        fit, intact = (
            ((values - place[0]) / place[1]).tolist()
            for values, place in zip(
                self.raw(replies), (net.fit_place, net.intact_place), strict=True
            )
        )
        copied = [copied_share(turns, text) for turns, text in replies]
        unread = [max(0, len(self.maker.tokens(text)) - REPLY_TOKENS) for _, text in replies]
        return [ReplyReading(*each) for each in zip(fit, intact, copied, unread, strict=True)]

    def raw(self, replies: Sequence[Reply]) -> tuple[Tensor, Tensor]:
        """The mean cosine [replies] of each with its history and its last turn, and the logits
        [replies] that each is intact."""
        if not replies:
            return torch.zeros(0), torch.zeros(0)
        whole = [self.history(turns) for turns, _ in replies]
        last = [self.history(turns[-1:]) for turns, _ in replies]
        with torch.inference_mode():
            before = self._net.histories(whole) + self._net.histories(last)
            vectors, logits = self._net.replies([self.reply(text) for _, text in replies])
            return (before * vectors).sum(1) / 2, logits

    def history(self, turns: Sequence[Turn]) -> MarkedSequence:
        """A history alone."""
        return self.maker.history(turns, longest=HISTORY_TOKENS, most=HISTORY_TURNS)

    def reply(self, text: str) -> MarkedSequence:
        """A reply alone."""
        return self.maker.reply(text, longest=REPLY_TOKENS)


def _by_length(
    read: Callable[[Sequence[MarkedSequence]], tuple[Tensor, ...]], every: Sequence[MarkedSequence]
) -> list[Tensor]:
    """Read sequences of similar lengths together: there is less padding to compute."""
    order = sorted(range(len(every)), key=lambda place: len(every[place].tokens))
    found = [
        read([every[place] for place in order[start : start + _TOGETHER]])
        for start in range(0, len(order), _TOGETHER)
    ]
    back = torch.argsort(torch.tensor(order))
    joined = (torch.cat(parts) for parts in zip(*found, strict=True))
    return [values[back] for values in joined]
