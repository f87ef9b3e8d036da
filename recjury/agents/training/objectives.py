"""What the objectives of recommenders, and those of generators, have in common."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recjury.agents.kbrd.dataset import Instance, Space
from recjury.agents.training.recall import Scores, first_and_ten, label_ranks

_BATCH = 64

Row = TypeVar("Row")


class Ranking(ABC):
    """Ranks items; an `Objective` of the training loop, without its loss."""

    part = "recommender"
    batch: ClassVar[int] = 512
    """How many instances are scored at once."""

    def __init__(self, space: Space, stop: Sequence[Instance]):
        """`stop` are the instances that decide when to stop."""
        self._space, self._stop = space, stop

    def figures(self) -> Mapping[str, float]:
        """Recall@1 and @10 on the split that decides when to stop."""
        return first_and_ten(self.ranks(self._stop))

    def quality(self, figures: Mapping[str, float]) -> float:
        """The sum of both."""
        return figures["recall@1"] + figures["recall@10"]

    def ranks(self, instances: Sequence[Instance]) -> NDArray[np.int64]:
        """The rank of each instance's label among the items."""
        with torch.no_grad():
            return label_ranks(self.scoring(), self._space, instances, batch=self.batch)

    @abstractmethod
    def scoring(self) -> Scores:
        """What scores all entities for some instances with the weights as they are."""


class Replying(ABC, Generic[Row]):
    """Cross-entropy per token of replies; an `Objective` of the training loop."""

    def __init__(self, train: Sequence[Row], stop: Sequence[Row], *, part: str = "generator"):
        """The rows that are learned, and those that decide when to stop (none: the same)."""
        self.part = part
        self._train, self._stop = train, stop or train

    def loss(self, rows: Sequence[int]) -> Tensor:
        """The mean loss of these rows; beyond the last one, they begin anew."""
        return self.mean_loss([self._train[row % len(self._train)] for row in rows])[0]

    def figures(self) -> Mapping[str, float]:
        """The perplexity per token of the replies that decide when to stop."""
        total, count = 0.0, 0
        for start in range(0, len(self._stop), _BATCH):
            loss, size = self.mean_loss(self._stop[start : start + _BATCH])
            total, count = total + float(loss) * size, count + size
        return {"perplexity": math.exp(min(total / max(1, count), 20.0))}

    def quality(self, figures: Mapping[str, float]) -> float:
        """Lower perplexity is better."""
        return -figures["perplexity"]

    @abstractmethod
    def mean_loss(self, rows: Sequence[Row]) -> tuple[Tensor, int]:
        """The mean loss per token of the replies, and the number of these tokens."""
