"""Training KBRD: its recommender, and a generator that listens to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from recjury.agents.kbrd import checkpoint
from recjury.agents.kbrd.generator import save_generator
from recjury.agents.kbrd.model import KbrdModel
from recjury.agents.kbrd.objective import Recommending
from recjury.agents.neural.bart import BartGenerator
from recjury.agents.neural.bart_config import BartDims
from recjury.agents.neural.description import Fidelity, Limits
from recjury.agents.neural.dialogue import joined
from recjury.agents.training.bart_speech import BartSpeaking
from recjury.agents.training.loop import Plan, Progress, reproducible
from recjury.agents.training.report import TrainingReport
from recjury.agents.training.session import Session, check_place, whole_folder
from recjury.agents.training.speech import Speech
from recjury.agents.training.vocabulary import learn_tokens
from recjury.corpora import Corpus

LIMITS = Limits(context=96, entities=32, response=48)


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """How to train; `generator` None trains none, and the system speaks in set sentences."""

    recommender: Plan = field(
        default_factory=lambda: Plan(epochs=20, batch=256, learning_rate=3e-3)
    )
    generator: Plan | None = field(
        default_factory=lambda: Plan(
            epochs=12, patience=2, batch=32, warm_up=0.05, decay=True, clip=1.0
        )
    )
    dim: int = 128
    bases: int = 8
    width: int = 128
    vocabulary: int = 3000

    @classmethod
    def small(cls) -> "Hyperparameters":
        """For corpora of a few hundred examples: a small generator, gentle steps for items.

        So few do not teach the items, and fast steps undo what the graph alone says of them.
        """
        return cls(
            recommender=Plan(epochs=20, batch=32, learning_rate=3e-4),
            generator=Plan(
                epochs=90,
                last=True,
                batch=16,
                learning_rate=3e-3,
                warm_up=0.05,
                decay=True,
                clip=1.0,
            ),
            dim=64,
            width=64,
            vocabulary=1200,
        )


def train_kbrd(
    corpus: Corpus,
    out: Path,
    *,
    seed: int = 0,
    hyperparameters: Hyperparameters | None = None,
    fidelity: Fidelity = "corrected",
    progress: Progress | None = None,
) -> TrainingReport:
    """Train on `corpus`, write the checkpoint folder `out`, and evaluate on the test split.

    The weights kept are those of the epoch that did best on validation. Trains in one thread:
    the same seed on the same machine gives the same numbers. `progress` is called after each
    epoch. Raises DataError when the corpus has nothing to train on, ConfigError for a folder
    that holds something else.
    """
    check_place(out)
    session = Session("kbrd", corpus, seed=seed, progress=progress)
    chosen = hyperparameters or Hyperparameters()
    plans = {"recommender": chosen.recommender}
    with reproducible(seed), whole_folder(out) as folder:
        space = session.space
        model = KbrdModel(
            space.entities, space.relations, dim=chosen.dim, bases=chosen.bases, fidelity=fidelity
        )
        objective = Recommending(model, space, session.parts)
        sizes = len(session.parts.train), len(session.parts.stop)
        session.fit(model, objective, chosen.recommender, sizes=sizes)
        if chosen.generator is not None:
            plans["generator"] = chosen.generator
            _speak(session, model, chosen, folder)
        described = session.metadata(plans, limits=LIMITS, fidelity=fidelity)
        checkpoint.save(folder, model, described)
    return session.report(out, objective.ranks)


def _speak(session: Session, model: KbrdModel, chosen: Hyperparameters, folder: Path) -> None:
    """Train the generator for users as the recommender pools them, and write it."""
    assert chosen.generator is not None
    tokens = learn_tokens(session.examples, "bart", size=chosen.vocabulary)
    dims = BartDims(
        vocabulary=tokens.size,
        width=chosen.width,
        inner=2 * chosen.width,
        positions=max(LIMITS.context, LIMITS.response) + 2,
        dropout=0.2,
    )
    generator = BartGenerator(dims.config(), bias_width=chosen.dim)
    with torch.no_grad():
        nodes = model.nodes(session.space.edges)

    def users(some: Sequence[Speech]) -> Tensor:
        with torch.no_grad():
            return model.pool(nodes, [each.entities for each in some])

    objective = BartSpeaking(
        generator,
        tokens,
        session.said,
        session.heldout,
        text=joined,
        context=LIMITS.context,
        response=LIMITS.response,
        users=users,
    )
    sizes = len(session.said), len(session.heldout)
    session.fit(generator, objective, chosen.generator, sizes=sizes)
    save_generator(folder, generator, tokens)
