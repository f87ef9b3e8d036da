"""Training BARCOR from scratch: its recommender with a graph behind the names, its generator."""

from dataclasses import dataclass, field
from pathlib import Path

from recjury.agents.barcor import checkpoint
from recjury.agents.barcor.model import BarcorRecommender
from recjury.agents.barcor.objective import GraphTied, Recommending, let_names_through
from recjury.agents.neural.bart import BartGenerator
from recjury.agents.neural.bart_config import BartDims
from recjury.agents.neural.description import Limits
from recjury.agents.neural.dialogue import prefixed
from recjury.agents.training.bart_speech import BartSpeaking
from recjury.agents.training.loop import Plan, Progress, reproducible
from recjury.agents.training.report import TrainingReport
from recjury.agents.training.session import Session, check_place, whole_folder
from recjury.agents.training.vocabulary import add_entities, learn_tokens
from recjury.corpora import Corpus

LIMITS = Limits(context=80, entities=0, response=48)


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """How to train; `width` and `layers` are the two BARTs' (encoder and decoder layers)."""

    recommender: Plan = field(
        default_factory=lambda: Plan(
            epochs=8, patience=3, learning_rate=1.5e-3, warm_up=0.05, decay=True, clip=1.0
        )
    )
    generator: Plan = field(
        default_factory=lambda: Plan(
            epochs=12, patience=2, batch=32, warm_up=0.05, decay=True, clip=1.0
        )
    )
    width: int = 128
    layers: tuple[int, int] = (2, 1)
    vocabulary: int = 4000
    dropout: float = 0.2
    facts: int = 0

    @classmethod
    def small(cls) -> "Hyperparameters":
        """For corpora of a few hundred examples: small models, and facts of the graph.

        So few do not teach the items: most of what it recommends is what the graph says.
        """
        return cls(
            recommender=Plan(
                epochs=8,
                patience=3,
                batch=32,
                learning_rate=2e-3,
                warm_up=0.05,
                decay=True,
                clip=1.0,
            ),
            generator=Plan(
                epochs=90,
                last=True,
                batch=16,
                learning_rate=3e-3,
                warm_up=0.05,
                decay=True,
                clip=1.0,
            ),
            width=64,
            layers=(1, 1),
            vocabulary=1200,
            facts=2000,
        )


def train_barcor(
    corpus: Corpus,
    out: Path,
    *,
    seed: int = 0,
    hyperparameters: Hyperparameters | None = None,
    progress: Progress | None = None,
) -> TrainingReport:
    """Train on `corpus`, write the checkpoint folder `out`, and evaluate on the test split.

    Trains in one thread: the same seed on the same machine gives the same numbers. `progress`
    is called after each epoch. Raises DataError when the corpus has nothing to train on,
    ConfigError for a folder that holds something else.
    """
    check_place(out)
    chosen = hyperparameters or Hyperparameters()
    session = Session("barcor", corpus, seed=seed, progress=progress, facts=chosen.facts)
    tokens = learn_tokens(session.examples, "bart", size=chosen.vocabulary)
    names = add_entities(tokens, corpus, session.examples)
    config = _dims(chosen, tokens.size).config()
    with reproducible(seed), whole_folder(out) as folder:
        recommender = BarcorRecommender(config, session.space.entities)
        let_names_through(recommender)
        tied = GraphTied(recommender, session.space, names)
        objective = Recommending(tied, session.space, session.parts, tokens, LIMITS.context)
        sizes = len(session.parts.train), len(session.parts.stop)
        session.fit(tied, objective, chosen.recommender, sizes=sizes)
        generator = BartGenerator(config)
        speaking = BartSpeaking(
            generator,
            tokens,
            session.said,
            session.heldout,
            text=prefixed,
            context=LIMITS.context,
            response=LIMITS.response,
        )
        sizes = len(session.said), len(session.heldout)
        session.fit(generator, speaking, chosen.generator, sizes=sizes)
        plans = {"recommender": chosen.recommender, "generator": chosen.generator}
        described = session.metadata(plans, limits=LIMITS, fidelity="corrected")
        checkpoint.save(folder, tied.fold(), generator, tokens, described)
    return session.report(out, objective.ranks)


def _dims(chosen: Hyperparameters, vocabulary: int) -> BartDims:
    return BartDims(
        vocabulary=vocabulary,
        width=chosen.width,
        encoder_layers=chosen.layers[0],
        decoder_layers=chosen.layers[1],
        inner=2 * chosen.width,
        positions=max(LIMITS.context, LIMITS.response) + 2,
        dropout=chosen.dropout,
    )
