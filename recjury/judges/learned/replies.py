"""The network that reads replies: does one fit its history, is it intact, which of two is better?

It imports torch: import it late.
"""

from collections.abc import Callable, Sequence
from math import exp, tanh
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from recjury.judges.learned.copying import copied_share
from recjury.judges.learned.encoder import WIDTH, AdaptedEncoder
from recjury.judges.learned.sequences import (
    HISTORY_MARKS,
    MARKS,
    OTHER_REPLY_MARK,
    REPLY_MARK,
    MarkedSequence,
    SequenceMaker,
    padded,
)
from recjury.records import Turn

HISTORY_TOKENS = 64
REPLY_TOKENS = 48
HISTORY_TURNS = 6

_COPIED = 6.0  # standard deviations for a reply that is a copy; chosen on pairs of our own
_INTACT_IN_PAIRS = 0.75  # both chosen on the same pairs, where neighbours do as well
_TOGETHER_WEIGHT = 0.3
_HIDDEN = 128
_DROPPED = 0.1
_TOGETHER = 16  # sequences


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

        The fit, half a point at most up or down for being intact or not, and up to `_COPIED`
        points off for words that are copied from the dialogue, which fit all too well.
        """
        return self.fit + tanh(self.intact / 2) / 2 - _COPIED * self.copied

    def over(self, other: "ReplyReading") -> float:
        """By how much the reply is better than another one to the same history.

        Being intact counts without a bound here: such replies often differ in nothing else.
        """
        fit, intact = self.fit - other.fit, self.intact - other.intact
        return fit + _INTACT_IN_PAIRS * intact - _COPIED * (self.copied - other.copied)

    @property
    def quality(self) -> float:
        """The score as a number from 0 to 1; one half for the mean of people's replies."""
        return 1 / (1 + exp(-max(-30.0, min(30.0, self.score))))


class ReplyNet(nn.Module):
    """One encoder with three readings: history and reply apart, together, and with a second reply.

    `scale` turns cosines into logits.
    """

    def __init__(self, rank: int):
        """`rank` is that of the changes to the encoder."""
        super().__init__()
        self.encoder = AdaptedEncoder(MARKS, rank)
        self.scale = nn.Parameter(torch.tensor(20.0))
        self.intact = _head()
        self.better = _head()
        # Mean and spread of the two scores of people's replies, so that they can be added up.
        self.fit_place = nn.Parameter(torch.tensor([0.0, 1.0]), requires_grad=False)
        self.intact_place = nn.Parameter(torch.tensor([0.0, 1.0]), requires_grad=False)

    def vectors(self, sequences: Sequence[MarkedSequence]) -> Tensor:
        """Vectors [sequences, width] of unit length: the means of the tokens' states."""
        return _by_length(self._vectors, sequences)

    def intactness(self, sequences: Sequence[MarkedSequence]) -> Tensor:
        """Logits [sequences] that the reply after the history is whole and free of slips."""
        return _by_length(self._intactness, sequences)

    def first_is_better(self, sequences: Sequence[MarkedSequence]) -> Tensor:
        """Logits [sequences] that the first of two replies is better."""
        return _by_length(self._first_is_better, sequences)

    def _vectors(self, sequences: Sequence[MarkedSequence]) -> Tensor:
        states, _, seen = self._states(sequences)
        weights = seen.float()
        means = (states * weights[..., None]).sum(1) / weights.sum(1)[:, None]
        return functional.normalize(means, dim=1)

    def _intactness(self, sequences: Sequence[MarkedSequence]) -> Tensor:
        states, marks, _ = self._states(sequences)
        before = torch.isin(marks, torch.tensor([*HISTORY_MARKS.values()], device=marks.device))
        read = [states[:, 0], _mean(states, marks == REPLY_MARK), _mean(states, before)]
        return self._read(self.intact, read)

    def _first_is_better(self, sequences: Sequence[MarkedSequence]) -> Tensor:
        states, marks, _ = self._states(sequences)
        one, other = _mean(states, marks == REPLY_MARK), _mean(states, marks == OTHER_REPLY_MARK)
        return self._read(self.better, [states[:, 0], one - other, one * other])

    def _states(self, sequences: Sequence[MarkedSequence]) -> tuple[Tensor, Tensor, Tensor]:
        arrays = padded(sequences)
        tokens, marks, seen = (
            torch.from_numpy(array).to(self.scale.device)
            for array in (arrays.tokens, arrays.marks, arrays.seen)
        )
        return self.encoder(tokens, marks, seen).float(), marks, seen

    def _read(self, head: nn.Module, read: list[Tensor]) -> Tensor:
        features = functional.dropout(torch.cat(read, 1), _DROPPED, self.training)
        found: Tensor = head(features)[:, 0]
        return found


class ReplyReader:
    """Reads replies with a trained network."""

    def __init__(self, net: ReplyNet, maker: SequenceMaker):
        """Reads with `net`."""
        self._net = net
        self.maker = maker

    def fit(self, replies: Sequence[tuple[Sequence[Turn], str]]) -> Tensor:
        """How well each reply fits [replies]: the mean cosine with the history and its last
        turn."""
        if not replies:
            return torch.zeros(0)
        net = self._net
        whole = self._all(net.vectors, [self.history(turns) for turns, _ in replies])
        last = self._all(net.vectors, [self.history(turns[-1:]) for turns, _ in replies])
        said = self._all(net.vectors, [self.reply(text) for _, text in replies])
        return ((whole + last) * said).sum(1) / 2

    def intact(self, replies: Sequence[tuple[Sequence[Turn], str]]) -> Tensor:
        """Logits [replies] that each one is whole and free of slips."""
        return self._all(self._net.intactness, [self.replied(*each) for each in replies])

    def read(self, replies: Sequence[tuple[Sequence[Turn], str]]) -> list[ReplyReading]:
        """What is found in each reply, in order."""
        fit, intact = (each.tolist() for each in self.standard(replies))
        copied = [copied_share(turns, text) for turns, text in replies]
        unread = [max(0, len(self.maker.tokens(text)) - REPLY_TOKENS) for _, text in replies]
        return [ReplyReading(*each) for each in zip(fit, intact, copied, unread, strict=True)]

    def standard(self, replies: Sequence[tuple[Sequence[Turn], str]]) -> tuple[Tensor, Tensor]:
        """The fit and the intactness [replies] of each, in standard deviations of people's
        replies from their mean."""
        fit = _placed(self.fit(replies), self._net.fit_place)
        return fit, _placed(self.intact(replies), self._net.intact_place)

    def preferences(self, pairs: Sequence[tuple[Sequence[Turn], str, str]]) -> Tensor:
        """The probability [pairs] that the first of two replies to a history is better.

        Both are read together, in both orders, and the margin of what was found in each is added.
        """
        one = self._all(self._net.first_is_better, [self.both(*each) for each in pairs])
        turned = [self.both(turns, second, first) for turns, first, second in pairs]
        other = self._all(self._net.first_is_better, turned)
        firsts = self.read([(turns, first) for turns, first, _ in pairs])
        seconds = self.read([(turns, second) for turns, _, second in pairs])
        apart = torch.tensor([a.over(b) for a, b in zip(firsts, seconds, strict=True)])
        return (_TOGETHER_WEIGHT * (one - other) / 2 + apart).sigmoid()

    def history(self, turns: Sequence[Turn]) -> MarkedSequence:
        """A history alone."""
        return self.maker.history(turns, longest=HISTORY_TOKENS, most=HISTORY_TURNS)

    def reply(self, text: str) -> MarkedSequence:
        """A reply alone."""
        return self.maker.reply(text, longest=REPLY_TOKENS)

    def replied(self, turns: Sequence[Turn], text: str) -> MarkedSequence:
        """A history with a reply."""
        return self.maker.replied(
            turns, text, history=HISTORY_TOKENS, reply=REPLY_TOKENS, most=HISTORY_TURNS
        )

    def both(self, turns: Sequence[Turn], first: str, second: str) -> MarkedSequence:
        """A history with two replies."""
        return self.maker.both(
            turns, (first, second), history=HISTORY_TOKENS, reply=REPLY_TOKENS, most=HISTORY_TURNS
        )

    def _all(
        self, read: Callable[[Sequence[MarkedSequence]], Tensor], every: list[MarkedSequence]
    ) -> Tensor:
        """What is read in every sequence; equal ones, such as the history of two replies, are read
        once."""
        if not every:
            return torch.zeros(0)
        places: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        different: list[MarkedSequence] = []
        where = []
        for each in every:
            key = (tuple(each.tokens), tuple(each.marks))
            if key not in places:
                places[key] = len(different)
                different.append(each)
            where.append(places[key])
        with torch.inference_mode():
            return read(different).cpu()[where]


def _by_length(
    read: Callable[[Sequence[MarkedSequence]], Tensor], every: Sequence[MarkedSequence]
) -> Tensor:
    """Read sequences of similar lengths together: there is less padding to compute."""
    order = sorted(range(len(every)), key=lambda place: len(every[place].tokens))
    found = [
        read([every[place] for place in order[start : start + _TOGETHER]])
        for start in range(0, len(order), _TOGETHER)
    ]
    back = torch.argsort(torch.tensor(order))
    return torch.cat(found)[back.to(found[0].device)]


def _head() -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(3 * WIDTH, _HIDDEN), nn.GELU(), nn.Dropout(_DROPPED), nn.Linear(_HIDDEN, 1)
    )


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    weights = mask.float()
    return (states * weights[..., None]).sum(1) / weights.sum(1).clamp(min=1)[:, None]


def _placed(values: Tensor, place: Tensor) -> Tensor:
    return (values - place[0]) / place[1]
