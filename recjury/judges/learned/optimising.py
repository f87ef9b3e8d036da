"""Steps of a training: AdamW, a rate that rises and falls, and progress that can be shown.

It imports torch: import it late.
"""

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from recjury.errors import DataError

_HEAD_RATE = 1e-3
_DECAY = 0.01
_WARM = 0.08  # of the steps
_LONGEST_STEP = 1.0
_SORTED_TOGETHER = 16  # batches

Item = TypeVar("Item")


class LearnedStep(NamedTuple):
    """A step that was taken: its number from 1, how many there are, and its loss."""

    number: int
    steps: int
    loss: float


Watch = Callable[[LearnedStep], None]


class Learner:
    """Takes steps for the parameters of a network that can change.

    The encoder's have their own rate.
    """

    def __init__(self, net: nn.Module, *, rate: float, steps: int, watch: Watch | None = None):
        """`rate` is the encoder's highest; `watch` is told of each step."""
        inner = [p for name, p in _changing(net) if name.startswith("encoder.")]
        outer = [p for name, p in _changing(net) if not name.startswith("encoder.")]
        self._rates = (rate, _HEAD_RATE)
        self._all = [*inner, *outer]
        self._optimiser = torch.optim.AdamW(
            [{"params": inner, "lr": 0.0}, {"params": outer, "lr": 0.0}], weight_decay=_DECAY
        )
        self._steps, self._done, self._watch = steps, 0, watch
        self.began = time.perf_counter()

    def step(self, loss: Tensor) -> None:
        """Change the parameters against the gradient of `loss`.

        Raises DataError if the loss is not finite.
        """
        value = float(loss.detach())
        if not math.isfinite(value):
            raise DataError(f"the loss of step {self._done + 1} is {value}: lower the rate")
        rise = (self._done + 1) / max(1.0, _WARM * self._steps)
        fall = max(0.0, 1 - self._done / self._steps)
        for group, rate in zip(self._optimiser.param_groups, self._rates, strict=True):
            group["lr"] = rate * min(1.0, rise) * fall
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._all, _LONGEST_STEP)
        self._optimiser.step()
        self._done += 1
        if self._watch is not None:
            self._watch(LearnedStep(self._done, self._steps, value))


def similar_batches(
    items: Sequence[Item], length: Callable[[Item], int], size: int, lot: random.Random
) -> Iterator[list[Item]]:
    """All items in batches of similar lengths, in random order."""
    shuffled = list(items)
    lot.shuffle(shuffled)
    batches = []
    for start in range(0, len(shuffled), size * _SORTED_TOGETHER):
        part = sorted(shuffled[start : start + size * _SORTED_TOGETHER], key=length)
        batches += [part[at : at + size] for at in range(0, len(part), size)]
    lot.shuffle(batches)
    yield from batches


def _changing(net: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    return ((name, each) for name, each in net.named_parameters() if each.requires_grad)
