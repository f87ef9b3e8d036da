"""Train UniCRS: from scratch, backbones and both prompt encoders; otherwise the prompts alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from transformers import GPT2Config, RobertaConfig

from recjury.agents.kbrd.edges import Neighbourhoods, neighbourhoods
from recjury.agents.neural.backbones import Origin
from recjury.agents.neural.description import Limits
from recjury.agents.neural.tokens import END, ITEM
from recjury.agents.training.hyperparameters import TrainingPlan
from recjury.agents.training.learned_tokens import learn_tokens
from recjury.agents.training.run import Ranks, SystemPlan, TrainingRun
from recjury.agents.unicrs import checkpoint, prompting
from recjury.agents.unicrs.model import Unicrs
from recjury.agents.unicrs.objective import (
    UnicrsRanking,
    UnicrsReplying,
    frozen,
    let_entities_through,
)
from recjury.agents.unicrs.texts import Texts

LIMITS = Limits(context=64, entities=20, response=48)


@dataclass(frozen=True, kw_only=True)
class UnicrsHyperparameters(SystemPlan):
    """How to train.

    `prompts` is the plan by which prompts for published backbones first learn the replies; from
    scratch it is not used. From scratch, the recommender's training also trains the backbones, with
    `share` of the generator's loss added; the generator's training then only trains the prompts for
    replies. `width` and `layers` are GPT-2's, `text_width` is that of a RoBERTa with one layer.
    `facts` is the number of instances made from the graph alone that are added to the corpus.
    """

    system = "unicrs"

    recommender: TrainingPlan = TrainingPlan(epochs=8, patience=3, learning_rate=2e-3)
    generator: TrainingPlan = TrainingPlan(epochs=3, patience=1, learning_rate=1e-3, warm_up=0.0)
    prompts: TrainingPlan = TrainingPlan(epochs=5, patience=2, learning_rate=5e-4)
    share: float = 0.5
    width: int = 128
    layers: int = 2
    text_width: int = 64
    vocabulary: int = 3000
    dropout: float = 0.1
    facts: int = 0

    @classmethod
    def small(cls) -> Self:
        """For corpora of fewer than 4,000 examples: small models, many steps for the replies.

        The last weights are kept: items are learnt early, sentences late.
        """
        return cls(
            recommender=TrainingPlan(epochs=18, last=True, batch=16, learning_rate=2e-3),
            generator=TrainingPlan(
                epochs=3, patience=1, batch=16, learning_rate=1e-3, warm_up=0.0, decay=False
            ),
            width=80,
            text_width=32,
            vocabulary=1500,
            dropout=0.12,
            facts=1000,
            share=2.0,
        )

    def from_published(self) -> Self:
        """These hyperparameters with plans for prompts of published backbones, which have own
        sizes."""
        return replace(
            self,
            recommender=TrainingPlan(epochs=10, patience=3, batch=32, learning_rate=5e-4),
            generator=TrainingPlan(epochs=10, patience=2, batch=16, learning_rate=1e-4),
        )

    def carry_out(self, session: TrainingRun, origins: Mapping[str, Origin], folder: Path) -> Ranks:
        """Train the parts, and write them into `folder`."""
        space = session.space
        edges = neighbourhoods(session.corpus.graph.edges, space.entities + 1, space.relations)
        if origins:
            plans = {
                "prompts": self.prompts,
                "recommender": self.recommender,
                "generator": self.generator,
            }
            limits = checkpoint.released(session.corpus.name).limits
            model, texts, backbones = prompting.begin(session, origins, limits)
            objective = prompting.train_prompts(session, model, texts, edges, plans)
        else:
            texts = self._texts(session)
            model, backbones = self._model(session, texts), {}
            objective = self._train_all(session, model, texts, edges)
        described = session.metadata(limits=texts.limits, backbones=backbones)
        checkpoint.save(folder, model, texts, described, with_backbones=not backbones)
        return objective.ranks

    def _train_all(
        self, session: TrainingRun, model: Unicrs, texts: Texts, edges: Neighbourhoods
    ) -> UnicrsRanking:
        """Train the backbones with the prompts for items, then the prompts for replies."""
        speaking = UnicrsReplying(model, texts, edges, session.said, session.heldout)
        objective = UnicrsRanking(
            model,
            texts,
            session.space,
            edges,
            session.parts,
            speaking=speaking,
            share=self.share,
        )
        session.fit(model, objective, self.recommender)
        for part in (model.gpt2, model.text, model.rec):
            frozen(part)
        session.fit(model, speaking, self.generator)
        return objective

    def _texts(self, session: TrainingRun) -> Texts:
        gpt2 = learn_tokens(session.examples, session.said, "gpt2", size=self.vocabulary)
        text = learn_tokens(session.examples, session.said, "bart", size=self.vocabulary)
        texts = Texts(gpt2, text, LIMITS, ITEM)
        texts.add_tokens()
        return texts

    def _model(self, session: TrainingRun, texts: Texts) -> Unicrs:
        end, drop = texts.gpt2.id(END), self.dropout
        gpt2 = GPT2Config(
            vocab_size=texts.gpt2.size,
            n_embd=self.width,
            n_layer=self.layers,
            n_head=4,
            n_positions=LIMITS.context + LIMITS.response + 16,
            bos_token_id=end,
            eos_token_id=end,
            resid_pdrop=drop,
            embd_pdrop=drop,
            attn_pdrop=drop,
        )
        text = RobertaConfig(
            vocab_size=texts.text.size,
            hidden_size=self.text_width,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=2 * self.text_width,
            max_position_embeddings=LIMITS.context + 8,
            hidden_dropout_prob=drop,
        )
        space = session.space
        model = Unicrs(gpt2, text, entities=space.entities, relations=space.relations)
        let_entities_through(model)
        return model
