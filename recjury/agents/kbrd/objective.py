"""KBRD's ranking objective."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from recjury.agents.kbrd.dataset import Instance, Space, Splits
from recjury.agents.kbrd.model import KbrdModel
from recjury.agents.training.recall import first_and_ten, label_ranks
from recjury.errors import DataError


class KbrdRanking:
    """Cross-entropy over all nodes; an `Objective` of the training loop."""

    part = "recommender"

    def __init__(self, model: KbrdModel, space: Space, parts: Splits):
        """Leave out users without an entity: their scores are zero, so nothing can be learnt from
        them.

        Raises DataError if no user is left.
        """
        self._model, self._space, self._stop = model, space, parts.stop
        self._train = [each for each in parts.train if each.entities]
        if not self._train:
            raise DataError(f"nothing to learn from: the {parts.trained_on} names no entity")

    @property
    def lengths(self) -> Sequence[int]:
        """The same length for all: their entities are pooled."""
        return [1] * len(self._train)

    def loss(self, rows: Sequence[int]) -> Tensor:
        """The mean loss of these instances."""
        some = [self._train[row] for row in rows]
        nodes = self._model.nodes(self._space.edges)
        scores = self._model.scores(nodes, [each.entities for each in some])
        return functional.cross_entropy(scores, torch.tensor([each.label for each in some]))

    def figures(self) -> Mapping[str, float]:
        """Recall@1 and @10 on the split that decides when to stop."""
        return first_and_ten(self.ranks(self._stop))

    def quality(self, figures: Mapping[str, float]) -> float:
        """The sum of both."""
        return figures["recall@1"] + figures["recall@10"]

    def ranks(self, instances: Sequence[Instance]) -> NDArray[np.int64]:
        """The rank of each label; users without a known entity are ranked by popularity."""
        popular = np.zeros(self._space.entities, dtype=np.float32)
        popular[self._space.items] = self._space.popularity
        with torch.no_grad():
            nodes = self._model.nodes(self._space.edges)

            def scores(some: Sequence[Instance]) -> NDArray[np.float32]:
                users = [each.entities for each in some]
                found: NDArray[np.float32] = self._model.scores(nodes, users)[:, :-1].numpy()
                found[[not user for user in users]] = popular
                return found

            return label_ranks(scores, self._space, instances)
