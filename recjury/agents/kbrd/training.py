"""Training KBRD's recommender: cross-entropy over all nodes, stopped early by validation."""

import importlib.metadata
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from recjury.agents.kbrd import checkpoint
from recjury.agents.kbrd.dataset import Instance, Space, Splits, instances, space_of, splits
from recjury.agents.kbrd.evaluate import Recall, by_group, label_ranks, popularity_ranks
from recjury.agents.kbrd.model import Fidelity, KbrdModel
from recjury.corpora import Corpus
from recjury.errors import ConfigError
from recjury.records import Record

_LEARNING_RATE = 3e-3
_MANY = 2000
_THREADS = 1  # sums in parallel come out in another order each time


class EpochReport(Record):
    """One epoch: mean training loss, and validation Recall@1 and @10."""

    epoch: int
    loss: float
    recall_1: float
    recall_10: float


class TrainingReport(Record):
    """What was trained, on what, how well it does, and how long it took.

    `test` and `popularity` are Recalls on the test split, by group, of the model and of always
    recommending the most popular items. Times are seconds: of the clock and of the processor.
    """

    corpus: str
    folder: str
    seed: int
    trained_on: str
    stopped_on: str
    train_instances: int
    stop_instances: int
    test_instances: int
    epochs: tuple[EpochReport, ...]
    best_epoch: int
    test: dict[str, tuple[Recall, ...]]
    popularity: dict[str, tuple[Recall, ...]]
    wall_seconds: float
    cpu_seconds: float


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """How to train.

    Patience is how many epochs without a better validation end it. `batch` is the most
    instances in a step; fewer where an epoch would have less than 16 steps, but at least 32.
    `learning_rate` None is 0.003, and a tenth of it for less than 2,000 instances: so few do not
    teach the model the items, and fast steps undo what the graph alone says of them.
    """

    epochs: int = 20
    patience: int = 4
    dim: int = 128
    bases: int = 8
    batch: int = 256
    learning_rate: float | None = None
    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        """Refuse what cannot be trained with."""
        for name, value in vars(self).items():
            least = 0 if name == "weight_decay" else 1e-12 if name == "learning_rate" else 1
            if value is not None and value < least:
                raise ConfigError(f"{name} must be at least {least:g}, got {value:g}")

    def for_instances(self, count: int) -> "Hyperparameters":
        """These, with the learning rate and the batch chosen for `count` instances."""
        rate = self.learning_rate
        if rate is None:
            rate = _LEARNING_RATE if count >= _MANY else _LEARNING_RATE / 10
        batch = min(self.batch, max(32, count // 16))
        return replace(self, learning_rate=rate, batch=batch)


def train_kbrd(
    corpus: Corpus,
    out: Path,
    *,
    seed: int = 0,
    hyperparameters: Hyperparameters | None = None,
    fidelity: Fidelity = "corrected",
    progress: Callable[[EpochReport], None] | None = None,
) -> TrainingReport:
    """Train on `corpus`, write the checkpoint folder `out`, and evaluate on the test split.

    The weights kept are those of the epoch with the best validation Recall@1 + Recall@10.
    Trains in one thread: the same seed on the same machine gives the same numbers. `progress`
    is called after each epoch. Raises DataError when the corpus has nothing to train on.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    space, parts = space_of(corpus), splits(corpus)
    chosen = (hyperparameters or Hyperparameters()).for_instances(len(parts.train))
    with _reproducible(seed):
        run = _Run(space, parts, chosen, seed, fidelity)
        history = list(run.epochs(progress))
        model, best = run.best()
        test = instances(corpus, "test")
        ranks = label_ranks(model, space, test)
    checkpoint.save(out, model, _metadata(corpus, space, parts, seed, chosen, fidelity, best))
    seen = frozenset(each.dialogue for each in parts.train)
    return TrainingReport(
        corpus=corpus.name,
        folder=str(out),
        seed=seed,
        trained_on=parts.trained_on,
        stopped_on=parts.stopped_on,
        train_instances=len(parts.train),
        stop_instances=len(parts.stop),
        test_instances=len(test),
        epochs=tuple(history),
        best_epoch=best.epoch,
        test=dict(by_group(ranks, test, seen)),
        popularity=dict(by_group(popularity_ranks(space, test), test, seen)),
        wall_seconds=time.perf_counter() - wall,
        cpu_seconds=time.process_time() - cpu,
    )


class _Run:
    """One training run: the model, its optimiser, and the best weights so far."""

    def __init__(
        self,
        space: Space,
        parts: Splits,
        chosen: Hyperparameters,
        seed: int,
        fidelity: Fidelity,
    ):
        assert chosen.learning_rate is not None, "chosen for the number of instances"
        self._space, self._parts, self._chosen = space, parts, chosen
        self._model = KbrdModel(
            space.entities,
            space.relations,
            dim=chosen.dim,
            bases=chosen.bases,
            fidelity=fidelity,
        )
        self._optimiser = torch.optim.AdamW(
            [p for p in self._model.parameters() if p.requires_grad],
            lr=chosen.learning_rate,
            weight_decay=chosen.weight_decay,
        )
        # A user without an entity scores zero everywhere: there is nothing to learn from it.
        self._usable = [each for each in parts.train if each.entities]
        self._order = np.random.default_rng(seed)
        self._best: tuple[EpochReport, dict[str, Tensor]] | None = None

    def epochs(self, progress: Callable[[EpochReport], None] | None) -> Iterator[EpochReport]:
        waited = 0
        for number in range(1, self._chosen.epochs + 1):
            report = self._epoch(number)
            if progress is not None:
                progress(report)
            yield report
            waited = 0 if self._keep_if_best(report) else waited + 1
            if waited >= self._chosen.patience:
                return

    def best(self) -> tuple[KbrdModel, EpochReport]:
        assert self._best is not None, "at least one epoch was trained"
        report, weights = self._best
        self._model.load_state_dict(weights)
        self._model.eval()
        return self._model, report

    def _epoch(self, number: int) -> EpochReport:
        self._model.train()
        shuffled = self._order.permutation(len(self._usable))
        total = 0.0
        for start in range(0, len(shuffled), self._chosen.batch):
            batch = [self._usable[i] for i in shuffled[start : start + self._chosen.batch]]
            total += self._step(batch) * len(batch)
        self._model.eval()
        ranks = label_ranks(self._model, self._space, self._parts.stop)
        first, ten = (float((ranks <= k).mean()) for k in (1, 10))
        loss = total / max(1, len(shuffled))
        return EpochReport(epoch=number, loss=loss, recall_1=first, recall_10=ten)

    def _step(self, batch: Sequence[Instance]) -> float:
        self._optimiser.zero_grad(set_to_none=True)
        nodes = self._model.nodes(self._space.edges)
        scores = self._model.scores(nodes, [each.entities for each in batch])
        labels = torch.tensor([each.label for each in batch])
        loss = functional.cross_entropy(scores, labels)
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        return float(loss.detach())

    def _keep_if_best(self, report: EpochReport) -> bool:
        if self._best is not None and _quality(report) <= _quality(self._best[0]):
            return False
        weights = {name: value.clone() for name, value in self._model.state_dict().items()}
        self._best = (report, weights)
        return True


def _quality(report: EpochReport) -> float:
    return report.recall_1 + report.recall_10


@contextmanager
def _reproducible(seed: int) -> Iterator[None]:
    """One thread and a seeded generator, both put back afterwards."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(_THREADS)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def _metadata(
    corpus: Corpus,
    space: Space,
    parts: Splits,
    seed: int,
    chosen: Hyperparameters,
    fidelity: Fidelity,
    best: EpochReport,
) -> checkpoint.Metadata:
    versions: Mapping[str, str] = {
        package: importlib.metadata.version(package) for package in ("recjury", "torch")
    }
    return checkpoint.Metadata(
        corpus=corpus.name,
        catalogue=corpus.catalogue.digest,
        entities=space.entities,
        relations=space.relations,
        fidelity=fidelity,
        seed=seed,
        trained_on=parts.trained_on,
        stopped_on=parts.stopped_on,
        hyperparameters=dict(vars(chosen)),
        best_epoch=best.epoch,
        figures={"recall@1": best.recall_1, "recall@10": best.recall_10},
        versions=dict(versions),
    )
