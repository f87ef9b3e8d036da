"""Training of the satisfaction network: on dialogues whose turns and wholes several people rated.

It imports torch: import it late.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from recjury.judges.learned.encoder import LONGEST
from recjury.judges.learned.optimising import Learner, Watch, similar_batches
from recjury.judges.learned.satisfaction import (
    RATINGS,
    DialogueBatcher,
    ReadDialogue,
    SatisfactionNet,
    expected_rating,
    read_dialogue,
)
from recjury.judges.learned.sequences import SequenceMaker
from recjury.records import Record, Turn
from recjury.stats.satisfaction import DEFECT

_CLOSE = 0.3  # standard deviations: dialogues whose labels are closer are not ranked
_STEEP = 2.0
_AT_ONCE = 32


class RatedExample(NamedTuple):
    """A dialogue; the ratings from 1 to 5 of each turn (none for the system's), and of the whole.

    `corpus` names what it belongs to: ratings are compared within a corpus.
    """

    id: str
    corpus: str
    turns: tuple[Turn, ...]
    ratings: tuple[tuple[int, ...], ...]
    overall: tuple[int, ...]


class SatisfactionPlan(Record):
    """How the satisfaction network is trained.

    `longest` is the most tokens of a dialogue, `epochs` how often each is read. The loss has the
    squared error of the dialogues' ratings, in standard deviations of their corpus; how the raters
    were divided (`shares`); which of two dialogues is better (`ranks`); and the turns' ratings
    (`turns`).
    """

    rank: int = Field(default=16, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    epochs: int = Field(default=3, ge=1)
    batch: int = Field(default=16, ge=2)
    longest: int = Field(default=384, ge=32, le=LONGEST)
    shares: float = Field(default=0.5, ge=0)
    ranks: float = Field(default=0.5, ge=0)
    turns: float = Field(default=0.5, ge=0)
    seed: int = Field(default=0, ge=0)


class _Example(NamedTuple):
    read: ReadDialogue
    corpus: int
    label: float
    shares: NDArray[np.float32]
    turns: NDArray[np.float32]  # mean ratings, nan without any


class RatedDialogues(NamedTuple):
    """Mean ratings of dialogues, and of the user's turns of each, by a trained network."""

    overall: NDArray[np.float64]
    turns: tuple[NDArray[np.float64], ...]
    cut: int


def train_satisfaction_net(
    examples: Sequence[RatedExample],
    corpus: str,
    plan: SatisfactionPlan,
    maker: SequenceMaker,
    *,
    watch: Watch | None = None,
) -> SatisfactionNet:
    """A network trained on examples of any corpora; its scores are placed for those of `corpus`:
    as many as among its labels are defects."""
    torch.manual_seed(plan.seed)
    lot = random.Random(plan.seed)
    names = sorted({each.corpus for each in examples})
    ready = [_ready(each, names, maker, plan.longest) for each in examples]
    net = SatisfactionNet(plan.rank)
    counts = torch.from_numpy(np.stack([each.read.counts for each in ready]))
    net.count_means.data.copy_(counts.mean(0))
    net.count_spreads.data.copy_(counts.std(0).clamp(min=1e-3))
    losses = _Losses(ready, len(names), plan)
    batcher = DialogueBatcher(net.encoder, keep=True)
    steps = plan.epochs * -(-len(ready) // plan.batch)
    learner = Learner(net, rate=plan.learning_rate, steps=steps, watch=watch)
    net.train()
    for _ in range(plan.epochs):
        for batch in similar_batches(
            ready, lambda each: len(each.read.sequence.tokens), plan.batch, lot
        ):
            learner.step(losses.of(batch, *net(batcher.batch([each.read for each in batch]))))
    net.eval()
    _divide(net, [each for each in examples if each.corpus == corpus], maker, plan.longest)
    return net


def rate_dialogues(
    net: SatisfactionNet,
    dialogues: Sequence[Sequence[Turn]],
    maker: SequenceMaker,
    *,
    longest: int,
) -> RatedDialogues:
    """The ratings from 1 to 5 of the network; up to 3 is a defect. `cut` counts dialogues of which
    the oldest turns were left out; turns that were left out have nan."""
    overall, turns, cut = _rate(net, dialogues, maker, longest)
    middle = net.divides.tolist()
    return RatedDialogues(
        np.clip(overall - middle[0] + DEFECT, 1, RATINGS),
        tuple(np.clip(each - middle[1] + DEFECT, 1, RATINGS) for each in turns),
        cut,
    )


class _Losses:
    """The loss of a batch; labels are measured in standard deviations of their corpus."""

    def __init__(self, ready: Sequence[_Example], corpora: int, plan: SatisfactionPlan):
        self._plan = plan
        means, spreads = [], []
        for number in range(corpora):
            labels = np.array([each.label for each in ready if each.corpus == number])
            labels = labels[~np.isnan(labels)]
            means.append(float(labels.mean()) if len(labels) else DEFECT)
            spreads.append(float(labels.std()) + 1e-3 if len(labels) > 1 else 1.0)
        self._means = torch.tensor(means)
        self._spreads = torch.tensor(spreads)

    def of(self, batch: Sequence[_Example], logits: Tensor, turn_logits: Tensor) -> Tensor:
        corpora = torch.tensor([each.corpus for each in batch])
        labels = torch.tensor([each.label for each in batch])

        def place(values: Tensor) -> Tensor:
            placed: Tensor = (values - self._means[corpora]) / self._spreads[corpora]
            return placed

        known = ~labels.isnan()
        loss = self._of_turns(batch, turn_logits)
        if known.any():
            wanted, found = place(labels)[known], place(expected_rating(logits))[known]
            loss = loss + functional.mse_loss(found, wanted)
            shares = torch.from_numpy(np.stack([each.shares for each in batch]))
            divided = -(shares * logits.log_softmax(-1)).sum(-1)[known]
            loss = loss + self._plan.shares * divided.mean()
            loss = loss + self._plan.ranks * _ranks(wanted, found, corpora[known])
        return loss

    def _of_turns(self, batch: Sequence[_Example], logits: Tensor) -> Tensor:
        ratings = np.full(logits.shape[:2], np.nan, dtype=np.float32)
        for row, each in enumerate(batch):
            kept = slice(each.read.sequence.left_out, len(each.turns))
            ratings[row, kept] = each.turns[kept]
        wanted = torch.from_numpy(ratings)
        known = ~wanted.isnan()
        if not known.any() or not self._plan.turns:
            return logits.sum() * 0
        wanted, logits = wanted[known], logits[known]
        low = wanted.floor().clamp(1, RATINGS - 1)
        above = (wanted - low)[:, None]
        one, next_one = (functional.one_hot(low.long() + k, RATINGS) for k in (-1, 0))
        shares = one * (1 - above) + next_one * above
        divided = -(shares * logits.log_softmax(-1)).sum(-1)
        errors = (expected_rating(logits) - wanted) ** 2
        return self._plan.turns * (divided + 2 * errors).mean()


def _ranks(wanted: Tensor, found: Tensor, corpora: Tensor) -> Tensor:
    """How far pairs of one corpus are in the wrong order."""
    better = (wanted[:, None] - wanted[None]) > _CLOSE
    better &= corpora[:, None] == corpora[None]
    if not better.any():
        return found.sum() * 0
    ahead = (found[:, None] - found[None])[better]
    return functional.softplus(-_STEEP * ahead).mean()


def _ready(
    example: RatedExample, names: Sequence[str], maker: SequenceMaker, longest: int
) -> _Example:
    given = example.overall
    shares = np.bincount(given, minlength=RATINGS + 1)[1:] if given else np.zeros(RATINGS)
    return _Example(
        read_dialogue(example.turns, maker, longest=longest),
        names.index(example.corpus),
        float(np.mean(given)) if given else float("nan"),
        (shares / max(1, len(given))).astype(np.float32),
        np.array([np.mean(some) if some else np.nan for some in example.ratings], dtype=np.float32),
    )


def _divide(
    net: SatisfactionNet, examples: Sequence[RatedExample], maker: SequenceMaker, longest: int
) -> None:
    """Store where defects end: as many of the network's ratings are below as of the labels."""
    overall, turns, _ = _rate(net, [each.turns for each in examples], maker, longest)
    dialogues = [
        (float(np.mean(each.overall)), rating)
        for each, rating in zip(examples, overall, strict=True)
        if each.overall
    ]
    single = [
        (float(np.mean(given)), rating)
        for each, found in zip(examples, turns, strict=True)
        for given, rating in zip(each.ratings, found, strict=True)
        if given and not np.isnan(rating)
    ]
    for place, pairs in enumerate((dialogues, single)):
        if pairs:
            labels, ratings = map(np.array, zip(*pairs, strict=True))
            share = float((labels <= DEFECT).mean())
            net.divides.data[place] = float(np.quantile(ratings, share))


def _rate(
    net: SatisfactionNet, dialogues: Sequence[Sequence[Turn]], maker: SequenceMaker, longest: int
) -> tuple[NDArray[np.float64], tuple[NDArray[np.float64], ...], int]:
    read = [read_dialogue(turns, maker, longest=longest) for turns in dialogues]
    batcher = DialogueBatcher(net.encoder)
    order = sorted(range(len(read)), key=lambda place: len(read[place].sequence.tokens))
    overall = np.zeros(len(read))
    turns: list[NDArray[np.float64]] = [np.zeros(0)] * len(read)
    for start in range(0, len(order), _AT_ONCE):
        places = order[start : start + _AT_ONCE]
        with torch.inference_mode():
            logits, turn_logits = net(batcher.batch([read[place] for place in places]))
        singles = expected_rating(turn_logits).double().numpy()
        for row, (place, rating) in enumerate(
            zip(places, expected_rating(logits).tolist(), strict=True)
        ):
            overall[place] = rating
            turns[place] = singles[row, : len(read[place].speakers)].copy()
            turns[place][: read[place].sequence.left_out] = np.nan
    return overall, tuple(turns), sum(each.sequence.left_out > 0 for each in read)
