"""The report of a training: its steps, its epochs, and its results on the test split."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from recjury.records import Record
from recjury.tables import WorkProgress


class Recall(Record):
    """Recall at one cutoff: the share of `n` labels in the first `k`, with a 95 % interval."""

    k: int
    value: float
    low: float
    high: float
    n: int


class EpochReport(Record):
    """One epoch of one part: the mean training loss, and the figures that decide when to stop.

    `figures` are `recall@1` and `recall@10` of a recommender, or `perplexity` of a generator.
    `quality` is compared between epochs; higher is better.
    """

    part: str
    epoch: int
    loss: float
    figures: dict[str, float]
    quality: float
    seconds: float

    @property
    def line(self) -> str:
        """The epoch in one line."""
        figures = ", ".join(f"{name} {value:.3f}" for name, value in self.figures.items())
        return (
            f"{self.part}, epoch {self.epoch}: loss {self.loss:.3f}, validation {figures} "
            f"({self.seconds:.0f} s)"
        )


class PartReport(Record):
    """One part of a system: the number of its training rows, its epochs, and the kept epoch."""

    part: str
    train_instances: int
    stop_instances: int
    epochs: tuple[EpochReport, ...]
    best_epoch: int
    cpu_seconds: float


class TrainingReport(Record):
    """What was trained, on which data, with which results, and how long it took.

    `test` has Recalls on the test split by group. `floors` has those of two methods without
    training: always the most popular items, and the items named last followed by the most popular
    ones. Times are in seconds, of the clock and of the processor.
    """

    system: str
    corpus: str
    folder: str
    seed: int
    trained_on: str
    stopped_on: str
    test_instances: int
    parts: tuple[PartReport, ...]
    test: dict[str, tuple[Recall, ...]]
    floors: dict[str, dict[str, tuple[Recall, ...]]]
    wall_seconds: float
    cpu_seconds: float


@dataclass
class TrainingSteps:
    """The steps of one part: at most `epochs` of `steps` each, told to `progress`."""

    part: str
    epochs: int
    steps: int
    progress: WorkProgress
    clock: Callable[[], float] = time.monotonic
    done: int = 0

    def __post_init__(self) -> None:
        """Look at the clock: the time left is estimated from the speed so far."""
        self._began = self.clock()

    def step(self) -> None:
        """Count one more step."""
        epoch, batch = divmod(self.done, self.steps)
        self.done += 1
        most = self.epochs * self.steps
        where = f"epoch {epoch + 1} of {self.epochs} at most: {batch + 1}/{self.steps} batches"
        left = (self.clock() - self._began) / self.done * (most - self.done)
        self.progress.at(self.done / most, f"{self.part}, {where}", left)
