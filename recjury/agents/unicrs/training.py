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
from recjury.agents.training.hyperparameters import SystemPlan, TrainingPlan
from recjury.agents.training.learned_tokens import learn_tokens
from recjury.agents.training.loop import reproducible
from recjury.agents.training.output_folder import check_place, whole_folder
from recjury.agents.training.report import TrainingReport
from recjury.agents.training.run import TrainingRun
from recjury.agents.unicrs import checkpoint, prompting
from recjury.agents.unicrs.model import Unicrs
from recjury.agents.unicrs.objective import (
    UnicrsRanking,
    UnicrsReplying,
    frozen,
    let_entities_through,
)
from recjury.agents.unicrs.texts import Texts
from recjury.corpora import Corpus
from recjury.tables import WorkProgress

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


def train_unicrs(
    corpus: Corpus,
    out: Path,
    *,
    hyperparameters: UnicrsHyperparameters,
    seed: int = 0,
    progress: WorkProgress | None = None,
    origins: Mapping[str, Origin] | None = None,
) -> TrainingReport:
    """Train on `corpus`, write the checkpoint folder `out`, and evaluate on the test split.

    Training uses one thread: the same seed on the same machine gives the same numbers. `progress`
    counts steps. `origins` may give `gpt2` and `roberta`, which are then not trained and not stored
    in the folder. Raises DataError if the corpus has nothing to train on or the backbones do not
    fit, and ConfigError if the folder has other contents.
    """
    check_place(out)
    session = TrainingRun(
        "unicrs", corpus, seed=seed, progress=progress, facts=hyperparameters.facts
    )
    space, graph = session.space, corpus.graph
    edges = neighbourhoods(graph.edges, space.entities + 1, space.relations)
    with reproducible(seed), whole_folder(out) as folder:
        if origins:
            plans = {
                "prompts": hyperparameters.prompts,
                "recommender": hyperparameters.recommender,
                "generator": hyperparameters.generator,
            }
            limits = checkpoint.released(corpus.name).limits
            model, texts, backbones = prompting.begin(session, origins, limits)
            objective = prompting.train_prompts(session, model, texts, edges, plans)
        else:
            texts = _texts(session, hyperparameters)
            model, backbones = _model(session, hyperparameters, texts), {}
            objective = _train_all(session, model, texts, edges, hyperparameters)
        described = session.metadata(
            limits=texts.limits,
            fidelity="corrected",
            sizes=hyperparameters.sizes(from_scratch=not origins),
            backbones=backbones,
        )
        checkpoint.save(folder, model, texts, described, with_backbones=not backbones)
    return session.report(out, objective.ranks)


def _train_all(
    session: TrainingRun,
    model: Unicrs,
    texts: Texts,
    edges: Neighbourhoods,
    chosen: UnicrsHyperparameters,
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
        share=chosen.share,
    )
    session.fit(model, objective, chosen.recommender)
    for part in (model.gpt2, model.text, model.rec):
        frozen(part)
    session.fit(model, speaking, chosen.generator)
    return objective


def _texts(session: TrainingRun, chosen: UnicrsHyperparameters) -> Texts:
    gpt2 = learn_tokens(session.examples, session.said, "gpt2", size=chosen.vocabulary)
    text = learn_tokens(session.examples, session.said, "bart", size=chosen.vocabulary)
    texts = Texts(gpt2, text, LIMITS, ITEM)
    texts.add_tokens()
    return texts


def _model(session: TrainingRun, chosen: UnicrsHyperparameters, texts: Texts) -> Unicrs:
    end, drop = texts.gpt2.id(END), chosen.dropout
    gpt2 = GPT2Config(
        vocab_size=texts.gpt2.size,
        n_embd=chosen.width,
        n_layer=chosen.layers,
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
        hidden_size=chosen.text_width,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=2 * chosen.text_width,
        max_position_embeddings=LIMITS.context + 8,
        hidden_dropout_prob=drop,
    )
    space = session.space
    model = Unicrs(gpt2, text, entities=space.entities, relations=space.relations)
    let_entities_through(model)
    return model
