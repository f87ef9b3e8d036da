"""One training, from corpus to checkpoint folder: a system's plan, and the steps all share."""

import importlib.metadata
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from torch import nn

from recjury.agents.kbrd.dataset import (
    Instance,
    Space,
    Splits,
    example_splits,
    graph_instances,
    instances,
    space_of,
    splits,
)
from recjury.agents.neural.backbones import Origin
from recjury.agents.neural.description import Backbone, Limits, Metadata
from recjury.agents.neural.tokens import ITEM
from recjury.agents.training.hyperparameters import TrainingPlan
from recjury.agents.training.loop import Fitted, Objective, fit, reproducible
from recjury.agents.training.objectives import Replying
from recjury.agents.training.output_folder import check_place, whole_folder
from recjury.agents.training.recall import by_group, copying_ranks, popularity_ranks
from recjury.agents.training.replies import (
    TrainingReply,
    held_out,
    learnable_words,
    training_replies,
)
from recjury.agents.training.report import PartReport, TrainingReport
from recjury.corpora import Corpus, TrainingExample
from recjury.errors import ConfigError, DataError
from recjury.tables import WorkProgress

Ranks = Callable[[Sequence[Instance]], NDArray[np.int64]]

_FEW = 4000  # instances: between ReDial's validation split (3,244) and OpenDialKG (5,893)
_VERSIONS = ("recjury", "numpy", "tokenizers", "torch", "transformers")


@dataclass(frozen=True, kw_only=True)
class SystemPlan(ABC):
    """How to train a system; its parts are the fields that are plans.

    The defaults suit corpora of 4,000 instances and more. `always` are the sizes that do not depend
    on a published backbone.
    """

    system: ClassVar[str]
    always: ClassVar[tuple[str, ...]] = ("facts",)

    @property
    @abstractmethod
    def generator(self) -> TrainingPlan | None:
        """The plan of the part that writes replies; None trains none."""

    @property
    def facts(self) -> int:
        """The number of instances made from the graph that are added; see `graph_instances`."""
        return 0

    @abstractmethod
    def carry_out(
        self, session: "TrainingRun", origins: Mapping[str, Origin], folder: Path
    ) -> Ranks:
        """Train the parts, write them into `folder`, and return how the recommender ranks.

        `origins` are the published models to start from. Raises DataError if they do not fit.
        """

    @classmethod
    def suited_to(cls, instances: int) -> Self:
        """The hyperparameters for a corpus with that many training instances."""
        return cls.small() if instances < _FEW else cls()

    @classmethod
    @abstractmethod
    def small(cls) -> Self:
        """The hyperparameters for smaller corpora."""

    @abstractmethod
    def from_published(self) -> Self:
        """These hyperparameters with plans for published backbones, which have their own sizes."""

    def without_generator(self) -> Self:
        """These hyperparameters for a system that replies with fixed sentences.

        Raises ConfigError if the system needs a generator.
        """
        raise ConfigError("only kbrd can be trained without a generator")

    def at_most(self, epochs: int | None) -> Self:
        """These hyperparameters with another limit of epochs for every part, if one is given."""
        parts = ((field.name, getattr(self, field.name)) for field in fields(self))
        return replace(
            self,
            **{
                name: part.at_most(epochs) for name, part in parts if isinstance(part, TrainingPlan)
            },
        )

    def sizes(self, *, from_scratch: bool) -> dict[str, float]:
        """The fields that are no plans; those of the models only if they are from scratch."""
        found: dict[str, float] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if not from_scratch and field.name not in self.always:
                continue
            if isinstance(value, tuple):  # layers
                parts = zip(("encoder", "decoder"), value, strict=True)
                found |= {f"{field.name}.{part}": number for part, number in parts}
            elif isinstance(value, int | float):
                found[field.name] = value
        return found


def train_system(
    plan: SystemPlan,
    corpus: Corpus,
    out: Path,
    *,
    seed: int = 0,
    progress: WorkProgress | None = None,
    origins: Mapping[str, Origin] | None = None,
) -> TrainingReport:
    """Train on `corpus`, write the checkpoint folder `out`, and evaluate on the test split.

    Training uses one thread: the same seed on the same machine gives the same numbers. `progress`
    counts steps. `origins` are the published models from which the parts start. Raises DataError if
    the corpus has nothing to train on or the origins do not fit, and ConfigError if the folder has
    other contents.
    """
    check_place(out)
    session = TrainingRun(plan, corpus, seed=seed, progress=progress)
    with reproducible(seed), whole_folder(out) as folder:
        ranks = plan.carry_out(session, origins or {}, folder)
    return session.report(out, ranks)


class TrainingRun:
    """A corpus prepared for training, and the record of what was trained on it."""

    def __init__(
        self,
        plan: SystemPlan,
        corpus: Corpus,
        *,
        seed: int,
        progress: WorkProgress | None = None,
    ):
        """Raises DataError if the corpus has nothing to train on."""
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        self.plan, self.corpus, self.seed, self._progress = plan, corpus, seed, progress
        self.space: Space = space_of(corpus)
        parts = splits(corpus)
        from_graph = graph_instances(corpus, most=plan.facts) if plan.facts else []
        self.parts: Splits = parts._replace(train=[*parts.train, *from_graph])
        examples = example_splits(corpus)
        self.examples: list[TrainingExample] = examples.train
        self.said: list[TrainingReply] = []
        self.heldout: list[TrainingReply] = []
        if plan.generator is not None:
            known = learnable_words(examples.train)
            self.said = training_replies(corpus, examples.train, known)
            self.heldout = held_out(training_replies(corpus, examples.stop, known), self.said)
            if not self.said:
                raise DataError(f"{corpus.name} has no reply that a generator can learn from")
        self._reports: list[PartReport] = []
        self._plans: dict[str, TrainingPlan] = {}

    def fit(self, model: nn.Module, objective: Objective, plan: TrainingPlan) -> Fitted:
        """Train one part: a recommender on the instances, or a generator on the replies."""
        cpu = time.process_time()
        speaks = isinstance(objective, Replying)
        train, stop = (self.said, self.heldout) if speaks else (self.parts.train, self.parts.stop)
        self._plans[objective.part] = plan
        fitted = fit(model, objective, plan, seed=self.seed, progress=self._progress)
        self._reports.append(
            PartReport(
                part=objective.part,
                train_instances=len(train),
                stop_instances=len(stop),
                epochs=fitted.epochs,
                best_epoch=fitted.best.epoch,
                cpu_seconds=time.process_time() - cpu,
            )
        )
        return fitted

    def metadata(
        self, *, limits: Limits, backbones: Mapping[str, Backbone] | None = None
    ) -> Metadata:
        """The description of the checkpoint; its figures are those of the kept epochs.

        `backbones` are those it was trained from, None if there were none.
        """
        from_scratch = self.plan.generator is not None and not backbones
        sizes = self.plan.sizes(from_scratch=from_scratch)
        chosen = {name: float(value) for name, value in sizes.items()} | {
            f"{part}.{name}": float(value)
            for part, plan in self._plans.items()
            for name, value in vars(plan).items()
            if value is not None
        }
        best = {r.part: r.epochs[r.best_epoch - 1] for r in self._reports}
        return Metadata(
            model=self.plan.system,
            corpus=self.corpus.name,
            catalogue=self.corpus.catalogue.digest,
            entities=self.space.entities,
            relations=self.space.relations,
            fidelity="corrected",
            seed=self.seed,
            trained_on=self.parts.trained_on,
            stopped_on=self.parts.stopped_on,
            hyperparameters=chosen,
            best_epoch=best["recommender"].epoch,
            figures={name: v for each in best.values() for name, v in each.figures.items()},
            versions={each: importlib.metadata.version(each) for each in _VERSIONS},
            limits=limits,
            item_token=ITEM,
            backbones=dict(backbones or {}),
        )

    def report(self, out: Path, ranks: Ranks) -> TrainingReport:
        """Evaluate on the test split, also in one thread; `ranks` computes those of the labels."""
        test = instances(self.corpus, "test") if "test" in self.corpus.splits else []
        seen = frozenset(each.dialogue for each in self.parts.train)
        floors = {
            "popularity": popularity_ranks(self.space, test),
            "copying": copying_ranks(self.space, test),
        }
        with reproducible(self.seed):
            tested = by_group(ranks(test), test, seen)
        return TrainingReport(
            system=self.plan.system,
            corpus=self.corpus.name,
            folder=str(out),
            seed=self.seed,
            trained_on=self.parts.trained_on,
            stopped_on=self.parts.stopped_on,
            test_instances=len(test),
            parts=tuple(self._reports),
            test=dict(tested),
            floors={name: dict(by_group(f, test, seen)) for name, f in floors.items()},
            wall_seconds=time.perf_counter() - self._wall,
            cpu_seconds=time.process_time() - self._cpu,
        )
