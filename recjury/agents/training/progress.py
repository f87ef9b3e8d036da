"""How far a training is: counted by the loop, shown by whoever watches."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from recjury.agents.training.report import EpochReport


@dataclass
class TrainingProgress:
    """Counts of the part that is being trained; `finished` is called after each of its epochs.

    `epochs` is the most there will be, `steps` how many an epoch has, `done` how many steps were
    taken in all epochs.
    """

    finished: Callable[[EpochReport], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    part: str = field(default="", init=False)
    epochs: int = field(default=0, init=False)
    steps: int = field(default=0, init=False)
    done: int = field(default=0, init=False)

    def begin(self, part: str, *, epochs: int, steps: int) -> None:
        """Say what is trained now."""
        self.part, self.epochs, self.steps, self.done = part, epochs, steps, 0
        self._started = self.clock()

    def step(self) -> None:
        """Count one more step."""
        self.done += 1

    @property
    def epoch(self) -> int:
        """The epoch of the last step, counted from 1."""
        return max(1, -(-self.done // max(1, self.steps)))

    def seconds_left(self) -> float | None:
        """An estimate, from the pace so far, for all epochs; None before the first step."""
        if not self.done:
            return None
        left = self.epochs * self.steps - self.done
        return (self.clock() - self._started) / self.done * left
