"""Training of the reply network: on people's replies, replies to others, and worsened ones.

It imports torch: import it late.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from recjury.judges.learned.optimising import Learner, Watch
from recjury.judges.learned.replies import ReplyNet, ReplyReader
from recjury.judges.learned.sequences import SequenceMaker
from recjury.judges.learned.worsening import Worsener, is_name
from recjury.records import Record, Turn

_COPIES = ("speaker", "echo", "begin_as_before")
_WORDS = 20_000


class ReplyExample(NamedTuple):
    """A person's reply to a history; `unfit` are replies that share words but do not fit."""

    history: tuple[Turn, ...]
    reply: str
    unfit: tuple[str, ...] = ()


class ReplyPlan(Record):
    """How the reply network is trained.

    At most `examples` are drawn, and read once, `batch` at a time: the replies of a batch are the
    wrong ones of each other. Of each batch, the share `copies` also has a reply that copies its
    history, `worsened` are compared with a worse version, and `compared` are read in pairs.
    """

    rank: int = Field(default=16, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    examples: int = Field(default=12_000, ge=2)
    batch: int = Field(default=64, ge=2)
    copies: float = Field(default=0.25, ge=0, le=1)
    worsened: float = Field(default=0.25, ge=0, le=1)
    compared: float = Field(default=0.25, ge=0, le=1)
    validation: int = Field(default=500, ge=2)
    seed: int = Field(default=0, ge=0)


def train_replies(
    examples: Sequence[ReplyExample],
    plan: ReplyPlan,
    maker: SequenceMaker,
    *,
    device: str = "cpu",
    watch: Watch | None = None,
) -> ReplyNet:
    """A network trained on the examples.

    The last `validation` of those drawn, but at most a tenth, only give the scores' place.
    """
    torch.manual_seed(plan.seed)
    lot = random.Random(plan.seed)
    drawn = lot.sample(list(examples), min(len(examples), plan.examples))
    held = max(1, min(plan.validation, len(drawn) // 10))
    drawn, kept = drawn[:-held], drawn[-held:]
    net = ReplyNet(plan.rank).to(device)
    reader = ReplyReader(net, maker)
    losses = _Losses(net, reader, _worsener(drawn, lot), plan, lot)
    steps = len(drawn) // plan.batch
    learner = Learner(net, rate=plan.learning_rate, steps=max(1, steps), watch=watch)
    net.train()
    for number in range(max(1, steps)):
        batch = drawn[number * plan.batch : (number + 1) * plan.batch]
        learner.step(losses.of(batch))
    net.eval()
    _place(net, reader, kept)
    return net


class _Losses:
    """The losses of a batch, added up."""

    def __init__(
        self,
        net: ReplyNet,
        reader: ReplyReader,
        worsener: Worsener,
        plan: ReplyPlan,
        lot: random.Random,
    ):
        self._net = net
        self._reader = reader
        self._worsener = worsener
        self._plan = plan
        self._lot = lot

    def of(self, batch: Sequence[ReplyExample]) -> Tensor:
        loss = self._fit(batch)
        worse = [(each, text) for each in self._some(batch, self._plan.worsened)
                 if (text := self._worse(each, self._worsener.kinds))]  # fmt: skip
        if worse:
            loss = loss + self._intact(worse)
        compared = self._some(batch, self._plan.compared)
        if compared:
            loss = loss + self._better(compared, batch)
        return loss

    def _fit(self, batch: Sequence[ReplyExample]) -> Tensor:
        """Each history finds its reply among those of the batch, and each reply its history."""
        reader, count = self._reader, len(batch)
        copies = [self._worse(each, _COPIES) for each in self._some(batch, self._plan.copies)]
        unfit = [self._lot.choice(each.unfit) for each in batch if each.unfit]
        texts = [*(each.reply for each in batch), *(text for text in copies if text), *unfit]
        histories = self._net.vectors([reader.history(each.history) for each in batch])
        said = self._net.vectors([reader.reply(text) for text in texts])
        logits = self._net.scale * histories @ said.T
        same = torch.tensor(
            [[i != j and one.reply == text for j, text in enumerate(texts)]
             for i, one in enumerate(batch)],
            device=logits.device,
        )  # fmt: skip
        logits = logits.masked_fill(same, -1e4)
        right = torch.arange(count, device=logits.device)
        found = functional.cross_entropy(logits, right)
        return found + functional.cross_entropy(logits[:, :count].T, right) / 2

    def _intact(self, worse: Sequence[tuple[ReplyExample, str]]) -> Tensor:
        """A reply is more intact than its worse version."""
        reader = self._reader
        both = [reader.replied(each.history, each.reply) for each, _ in worse]
        both += [reader.replied(each.history, text) for each, text in worse]
        logits = self._net.intactness(both)
        count = len(worse)
        target = torch.cat([torch.ones(count), torch.zeros(count)]).to(logits.device)
        plain = functional.binary_cross_entropy_with_logits(logits, target)
        return functional.softplus(logits[count:] - logits[:count]).mean() + 0.3 * plain

    def _better(self, some: Sequence[ReplyExample], batch: Sequence[ReplyExample]) -> Tensor:
        """Of two replies read together, the first or second is the better one."""
        pairs, firsts = [], []
        for each in some:
            other = self._other(each, batch)
            first = self._lot.random() < 0.5
            texts = (each.reply, other) if first else (other, each.reply)
            pairs.append(self._reader.both(each.history, *texts))
            firsts.append(float(first))
        logits = self._net.first_is_better(pairs)
        target = torch.tensor(firsts, device=logits.device)
        return functional.binary_cross_entropy_with_logits(logits, target)

    def _other(self, each: ReplyExample, batch: Sequence[ReplyExample]) -> str:
        kind = self._lot.random()
        worse = self._worse(each, self._worsener.kinds) if kind < 0.6 else None
        if worse:
            return worse
        if each.unfit and kind < 0.8:
            return self._lot.choice(each.unfit)
        # Of similar length, so that length says nothing.
        three = [self._lot.choice(batch).reply for _ in range(3)]
        return min(three, key=lambda text: abs(len(text) - len(each.reply)))

    def _some(self, batch: Sequence[ReplyExample], share: float) -> list[ReplyExample]:
        return [each for each in batch if self._lot.random() < share]

    def _worse(self, each: ReplyExample, kinds: Sequence[str]) -> str | None:
        history = [turn.text for turn in each.history]
        return self._worsener.worse(self._lot.choice(kinds), history, each.reply, self._lot)


def _worsener(examples: Sequence[ReplyExample], lot: random.Random) -> Worsener:
    words = [word for each in examples for word in each.reply.split()]
    names = {word for each in examples for word in each.reply.split()[1:] if is_name(word)}
    return Worsener(lot.sample(words, min(_WORDS, len(words))), sorted(names))


def _place(net: ReplyNet, reader: ReplyReader, examples: Sequence[ReplyExample]) -> None:
    """Store mean and spread of both scores of people's replies."""
    replies = [(each.history, each.reply) for each in examples]
    for place, values in (
        (net.fit_place, reader.fit(replies)),
        (net.intact_place, reader.intact(replies)),
    ):
        spread = values.std(unbiased=False).clamp(min=1e-3)
        place.data.copy_(torch.stack([values.mean(), spread]))
