"""Training of the reply network: on people's replies, replies to others, and broken ones.

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
from recjury.judges.learned.worsening import Worsener, copies
from recjury.records import Record, Turn


class ReplyExample(NamedTuple):
    """A person's reply to a history."""

    history: tuple[Turn, ...]
    reply: str


class SystemText(NamedTuple):
    """A reply of a system, and whether it is broken."""

    text: str
    broken: bool


class ReplyPlan(Record):
    """How the reply network is trained.

    At most `examples` are drawn, and read once, `batch` at a time: the replies of a batch are the
    wrong ones of each other. Of each batch, the share `copied` also has a reply that copies its
    history, `joined` one that another is added to, and `broken` a broken version. Of the replies of
    systems, `others` broken and as many whole ones come to each batch. Histories are long: half of
    the batch has its histories read.
    """

    rank: int = Field(default=16, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    examples: int = Field(default=12_000, ge=2)
    batch: int = Field(default=32, ge=2)
    copied: float = Field(default=0.2, ge=0, le=1)
    joined: float = Field(default=0.25, ge=0, le=1)
    broken: float = Field(default=0.7, ge=0, le=1)
    others: int = Field(default=4, ge=0)
    validation: int = Field(default=500, ge=2)
    seed: int = Field(default=0, ge=0)


def train_replies(
    examples: Sequence[ReplyExample],
    plan: ReplyPlan,
    maker: SequenceMaker,
    *,
    systems: Sequence[SystemText] = (),
    watch: Watch | None = None,
) -> ReplyNet:
    """A network trained on the examples, and on replies of `systems`.

    The last `validation` of those drawn, but at most a tenth, only give the scores' place.
    """
    torch.manual_seed(plan.seed)
    lot = random.Random(plan.seed)
    drawn = lot.sample(list(examples), min(len(examples), plan.examples))
    held = max(1, min(plan.validation, len(drawn) // 10))
    drawn, kept = drawn[:-held], drawn[-held:]
    net = ReplyNet(plan.rank)
    reader = ReplyReader(net, maker)
    losses = _Losses(net, reader, drawn, systems, plan, lot)
    steps = max(1, len(drawn) // plan.batch)
    learner = Learner(net, rate=plan.learning_rate, steps=steps, watch=watch)
    net.train()
    for number in range(steps):
        learner.step(losses.total(drawn[number * plan.batch : (number + 1) * plan.batch]))
    net.eval()
    _set_place(net, reader, kept)
    return net


class _Losses:
    """The loss of a batch."""

    def __init__(
        self,
        net: ReplyNet,
        reader: ReplyReader,
        examples: Sequence[ReplyExample],
        systems: Sequence[SystemText],
        plan: ReplyPlan,
        lot: random.Random,
    ):
        self._net = net
        self._reader = reader
        self._worsener = Worsener([each.reply for each in examples], lot)
        self._broken = [each.text for each in systems if each.broken]
        self._whole = [each.text for each in systems if not each.broken]
        self._plan = plan
        self._lot = lot

    def total(self, batch: Sequence[ReplyExample]) -> Tensor:
        """Each history finds its reply, each reply its history, and broken replies are told."""
        plan, lot = self._plan, self._lot
        people = [each.reply for each in batch]
        copied = [copies([turn.text for turn in each.history], each.reply, lot)
                  for each in batch if lot.random() < plan.copied]  # fmt: skip
        # Long ones, since broken replies are longer than people's: length must not tell.
        joined = [f"{text} {lot.choice(people)}" for text in people if lot.random() < plan.joined]
        broken = [self._worsener.broken(text, lot)
                  for text in (*people, *joined) if lot.random() < plan.broken]  # fmt: skip
        systems = lot.sample(self._whole, min(plan.others, len(self._whole)))
        others = lot.sample(self._broken, min(plan.others, len(self._broken)))
        whole = [*people, *joined, *(text for text in copied if text), *systems]
        texts = [*whole, *(text for text in broken if text), *others]
        vectors, intact = self._net.replies([self._reader.reply(text) for text in texts])
        # A system's replies would always be wrong ones: its style would seem to fit nothing.
        known = {*people, *joined, *systems, *others}
        wrong = [each for each in range(len(batch), len(texts)) if texts[each] not in known]
        columns = [*range(len(batch)), *wrong]
        read = batch[: (len(batch) + 1) // 2]
        fit = self._fit(read, [texts[each] for each in columns], vectors[columns])
        return fit + _told_apart(intact, len(whole))

    def _fit(self, batch: Sequence[ReplyExample], texts: Sequence[str], vectors: Tensor) -> Tensor:
        """The loss of finding the replies of `batch`, which come first in `texts`."""
        histories = self._net.histories([self._reader.history(each.history) for each in batch])
        logits = self._net.scale * histories @ vectors.T
        same = [[i != j and one.reply == text for j, text in enumerate(texts)]
                for i, one in enumerate(batch)]  # fmt: skip
        logits = logits.masked_fill(torch.tensor(same), -1e4)
        right = torch.arange(len(batch))
        found = functional.cross_entropy(logits, right)
        return found + functional.cross_entropy(logits[:, : len(batch)].T, right) / 2


def _told_apart(logits: Tensor, whole: int) -> Tensor:
    """The loss of telling the first `whole` replies from the broken ones, both weighing the
    same."""
    loss = functional.softplus(-logits[:whole]).mean()
    if whole == len(logits):
        return loss
    return loss + functional.softplus(logits[whole:]).mean()


def _set_place(net: ReplyNet, reader: ReplyReader, examples: Sequence[ReplyExample]) -> None:
    """Store mean and spread of both scores of people's replies."""
    found = reader.raw([(each.history, each.reply) for each in examples])
    for place, values in zip((net.fit_place, net.intact_place), found, strict=True):
        spread = values.std(unbiased=False).clamp(min=1e-3)
        place.data.copy_(torch.stack([values.mean(), spread]))
