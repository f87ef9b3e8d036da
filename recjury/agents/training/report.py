"""The report of a training: its progress, its epochs, and its results on the test split."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from recjury.records import Record


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
class TrainingProgress:
    """Counts of the part that is being trained.

    `finished` is called after each of its epochs, `stepped` with these counts after each step.

    `epochs` is the largest number of epochs, `steps` the number of steps in an epoch, and `done`
    the number of steps in all epochs so far.
    """

    finished: Callable[[EpochReport], None] = lambda _: None
    stepped: "Callable[[TrainingProgress], None]" = lambda _: None
    clock: Callable[[], float] = time.monotonic
    part: str = field(default="", init=False)
    epochs: int = field(default=0, init=False)
    steps: int = field(default=0, init=False)
    done: int = field(default=0, init=False)

    def begin(self, part: str, *, epochs: int, steps: int) -> None:
        """Set the part that is trained now."""
        self.part, self.epochs, self.steps, self.done = part, epochs, steps, 0
        self._started = self.clock()

    def step(self) -> None:
        """Count one more step."""
        self.done += 1
        self.stepped(self)

    @property
    def share(self) -> float:
        """The share of the part's steps that is done, 0 to 1, if all epochs are needed."""
        return self.done / max(1, self.epochs * self.steps)

    def __str__(self) -> str:
        batch = self.done - (self.epoch - 1) * self.steps
        epochs = f"epoch {self.epoch} of {self.epochs} at most"
        return f"{self.part}, {epochs}: {batch}/{self.steps} batches"

    @property
    def epoch(self) -> int:
        """The epoch of the last step, counted from 1."""
        return max(1, -(-self.done // max(1, self.steps)))

    def seconds_left(self) -> float | None:
        """An estimate for all epochs from the speed so far, in seconds; None before the first
        step."""
        if not self.done:
            return None
        left = self.epochs * self.steps - self.done
        return (self.clock() - self._started) / self.done * left
