"""Train KBRD: its recommender by a ranking objective, and a generator that depends on its users."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from recjury.agents.kbrd import checkpoint
from recjury.agents.kbrd.dataset import Instance, Space, Splits
from recjury.agents.kbrd.generator import LIMITS as PUBLISHED
from recjury.agents.kbrd.generator import save_generator
from recjury.agents.kbrd.model import KbrdModel
from recjury.agents.neural.backbones import Origin
from recjury.agents.neural.bart_config import BartDims
from recjury.agents.neural.context import joined
from recjury.agents.neural.description import Limits
from recjury.agents.training.bart_objective import BartReplying
from recjury.agents.training.bart_start import BartStart, published_bart
from recjury.agents.training.hyperparameters import TrainingPlan
from recjury.agents.training.learned_tokens import learn_tokens
from recjury.agents.training.objectives import Ranking
from recjury.agents.training.recall import Scores
from recjury.agents.training.replies import TrainingReply
from recjury.agents.training.run import Ranks, SystemPlan, TrainingRun
from recjury.errors import DataError


class KbrdRanking(Ranking):
    """Cross-entropy over all nodes; an `Objective` of the training loop."""

    def __init__(self, model: KbrdModel, space: Space, parts: Splits):
        """Leave out users without an entity: their scores are zero, so nothing can be learnt from
        them.

        Raises DataError if no user is left.
        """
        super().__init__(space, parts.stop)
        self._model = model
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

    def scoring(self) -> Scores:
        """Users without a known entity get the items' popularity."""
        popular = np.zeros(self._space.entities, dtype=np.float32)
        popular[self._space.items] = self._space.popularity
        nodes = self._model.nodes(self._space.edges)

        def scores(some: Sequence[Instance]) -> NDArray[np.float32]:
            users = [each.entities for each in some]
            found: NDArray[np.float32] = self._model.scores(nodes, users)[:, :-1].numpy()
            found[[not user for user in users]] = popular
            return found

        return scores


LIMITS = Limits(context=96, entities=32, response=48)


@dataclass(frozen=True, kw_only=True)
class KbrdHyperparameters(SystemPlan):
    """How to train. With `generator` None, none is trained, and replies are fixed sentences."""

    system = "kbrd"
    always: ClassVar[tuple[str, ...]] = ("dim", "bases")

    recommender: TrainingPlan = TrainingPlan(
        epochs=20, batch=256, learning_rate=3e-3, warm_up=0.0, decay=False, clip=None
    )
    generator: TrainingPlan | None = TrainingPlan(epochs=12, patience=2, batch=32)
    dim: int = 128
    bases: int = 8
    width: int = 128
    vocabulary: int = 3000
    dropout: float = 0.2

    @classmethod
    def small(cls) -> Self:
        """For corpora of fewer than 4,000 examples: a small generator, and a low learning rate for
        items.

        So few examples teach little about the items, and large steps would undo what the graph
        alone says about them.
        """
        return cls(
            recommender=TrainingPlan(
                epochs=20, batch=32, learning_rate=1e-3, warm_up=0.0, decay=False, clip=None
            ),
            generator=TrainingPlan(epochs=70, last=True, batch=16, learning_rate=3e-3),
            dim=64,
            width=64,
            vocabulary=1500,
            dropout=0.1,
        )

    def from_published(self) -> Self:
        """These hyperparameters with a plan for a generator that starts from a published BART."""
        gentle = TrainingPlan(epochs=8, patience=2, batch=32, learning_rate=5e-5)
        return replace(self, generator=self.generator and gentle)

    def without_generator(self) -> Self:
        """These hyperparameters without a generator."""
        return replace(self, generator=None)

    def carry_out(self, session: TrainingRun, origins: Mapping[str, Origin], folder: Path) -> Ranks:
        """Train the parts, and write them into `folder`."""
        start = self._start(session, origins) if self.generator is not None else None
        space = session.space
        model = KbrdModel(space.entities, space.relations, dim=self.dim, bases=self.bases)
        objective = KbrdRanking(model, space, session.parts)
        session.fit(model, objective, self.recommender)
        if start is not None and self.generator is not None:
            _speak(session, model, self.generator, start, folder)
        described = session.metadata(
            limits=LIMITS if start is None else start.limits,
            backbones=None if start is None else start.backbones,
        )
        checkpoint.save(folder, model, described)
        return objective.ranks

    def _start(self, session: TrainingRun, origins: Mapping[str, Origin]) -> BartStart:
        """The initial state of the generator."""
        if "bart" in origins:
            return published_bart(origins["bart"], PUBLISHED)
        tokens = learn_tokens(session.examples, session.said, "bart", size=self.vocabulary)
        dims = BartDims(
            vocabulary=tokens.size,
            width=self.width,
            inner=2 * self.width,
            positions=max(LIMITS.context, LIMITS.response) + 2,
            dropout=self.dropout,
        )
        return BartStart(tokens=tokens, config=dims.config(), limits=LIMITS)


def _speak(
    session: TrainingRun, model: KbrdModel, plan: TrainingPlan, start: BartStart, folder: Path
) -> None:
    """Train the generator for the recommender's user vectors, and write it."""
    generator = start.generator(bias_width=model.node_embeds.shape[1])
    with torch.no_grad():
        nodes = model.nodes(session.space.edges)

    def users(some: Sequence[TrainingReply]) -> Tensor:
        with torch.no_grad():
            return model.pool(nodes, [each.entities for each in some])

    objective = BartReplying(
        generator, start, session.said, session.heldout, text=joined, users=users
    )
    session.fit(generator, objective, plan)
    save_generator(folder, generator, start.tokens)
