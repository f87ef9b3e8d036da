"""Train BARCOR: its recommender and its generator, from scratch or from a published BART.

From scratch, a graph helps the recommender to learn names. A published BART can already read names,
and is fine-tuned without the graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from recjury.agents.barcor import checkpoint
from recjury.agents.barcor.model import BarcorRecommender
from recjury.agents.barcor.objective import (
    BarcorRanking,
    GraphTied,
    Untied,
    let_names_through,
)
from recjury.agents.neural.backbones import Origin
from recjury.agents.neural.bart_config import BartDims
from recjury.agents.neural.context import prefixed
from recjury.agents.neural.description import Limits
from recjury.agents.training.bart_objective import BartReplying
from recjury.agents.training.bart_start import BartStart, published_bart
from recjury.agents.training.hyperparameters import TrainingPlan
from recjury.agents.training.learned_tokens import add_entities, learn_tokens
from recjury.agents.training.run import Ranks, SystemPlan, TrainingRun

LIMITS = Limits(context=80, entities=0, response=48)


@dataclass(frozen=True, kw_only=True)
class BarcorHyperparameters(SystemPlan):
    """How to train; `width` and `layers` are the two BARTs' (encoder and decoder layers)."""

    system = "barcor"

    recommender: TrainingPlan = TrainingPlan(epochs=8, patience=3, learning_rate=1.5e-3)
    generator: TrainingPlan = TrainingPlan(epochs=12, patience=2, batch=32)
    width: int = 128
    layers: tuple[int, int] = (2, 1)
    vocabulary: int = 4000
    dropout: float = 0.2
    facts: int = 0

    @classmethod
    def small(cls) -> Self:
        """For corpora of fewer than 4,000 examples: small models, and facts of the graph.

        So few examples teach little about the items: most recommendations follow from the graph.
        """
        return cls(
            recommender=TrainingPlan(epochs=8, patience=3, batch=32, learning_rate=2e-3),
            generator=TrainingPlan(epochs=60, last=True, batch=16, learning_rate=3e-3),
            width=64,
            layers=(1, 2),
            vocabulary=1500,
            dropout=0.1,
            facts=2000,
        )

    def from_published(self) -> Self:
        """These hyperparameters with plans for a published BART, which has its own sizes."""
        return replace(
            self,
            recommender=TrainingPlan(epochs=10, patience=3, batch=32, learning_rate=1e-4),
            generator=TrainingPlan(epochs=8, patience=2, batch=32, learning_rate=5e-5),
        )

    def carry_out(self, session: TrainingRun, origins: Mapping[str, Origin], folder: Path) -> Ranks:
        """Train the parts, and write them into `folder`."""
        start, names = self._start(session, origins)
        model = _recommender(session, start, names)
        objective = BarcorRanking(
            model, session.space, session.parts, start.tokens, start.limits.context
        )
        session.fit(model, objective, self.recommender)
        generator = start.generator()
        speaking = BartReplying(generator, start, session.said, session.heldout, text=prefixed)
        session.fit(generator, speaking, self.generator)
        described = session.metadata(limits=start.limits, backbones=start.backbones)
        checkpoint.save(folder, model.fold(), generator, start.tokens, described)
        return objective.ranks

    def _start(
        self, session: TrainingRun, origins: Mapping[str, Origin]
    ) -> tuple[BartStart, dict[int, int]]:
        """The initial state of both parts, and the tokens that name entities."""
        if "bart" in origins:
            return published_bart(origins["bart"], checkpoint.LIMITS), {}
        tokens = learn_tokens(session.examples, session.said, "bart", size=self.vocabulary)
        names = add_entities(tokens, session.corpus, session.examples)
        dims = BartDims(
            vocabulary=tokens.size,
            width=self.width,
            encoder_layers=self.layers[0],
            decoder_layers=self.layers[1],
            inner=2 * self.width,
            positions=max(LIMITS.context, LIMITS.response) + 2,
            dropout=self.dropout,
        )
        return BartStart(tokens=tokens, config=dims.config(), limits=LIMITS), names


def _recommender(
    session: TrainingRun, start: BartStart, names: Mapping[int, int]
) -> GraphTied | Untied:
    recommender = BarcorRecommender(start.config, session.space.entities)
    if start.published is not None:
        start.begin(recommender.model)
        return Untied(recommender)
    let_names_through(recommender)
    return GraphTied(recommender, session.space, names)
