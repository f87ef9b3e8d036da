"""How far a campaign is: counted by the pipeline, shown by whoever watches."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from recjury.llm import GatewayUsage


@dataclass
class Progress:
    """Counts of trials by how they stand; `changed` is called after every change.

    `resumed` trials were done before this run began and say nothing about its speed. `usage`
    are the gateway's counters, where the campaign has models.
    """

    planned: int = 0
    resumed: int = 0
    done: int = 0
    failed: int = 0
    usage: GatewayUsage | None = None
    changed: Callable[["Progress"], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self.started = self.clock()

    def begin(self, *, planned: int, resumed: int) -> None:
        """Say what there is to do; `resumed` trials are done already."""
        self.planned, self.resumed, self.done = planned, resumed, resumed
        self.changed(self)

    def finish_one(self, *, failed: bool) -> None:
        """Count one more trial as done or failed."""
        self.failed += failed
        self.done += not failed
        self.changed(self)

    @property
    def remaining(self) -> int:
        """How many trials are neither done nor failed."""
        return self.planned - self.done - self.failed

    def seconds_left(self) -> float | None:
        """An estimate from this run's own pace; None until a trial has finished."""
        finished = self.done + self.failed - self.resumed
        if finished <= 0:
            return None
        return (self.clock() - self.started) / finished * self.remaining
