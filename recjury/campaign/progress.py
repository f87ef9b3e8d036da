"""The progress of a campaign, counted by the runner for those who show it, and how a run ended."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from recjury.campaign.budget_scheduler import BudgetShortfall
from recjury.campaign.stopping import Stopped
from recjury.llm import GatewayUsage
from recjury.store import Skipped


@dataclass
class UnitCounts:
    """How many units of one kind there are, and how many of them are done, failed, or held back
    because the budget does not cover them."""

    planned: int = 0
    done: int = 0
    failed: int = 0
    held: int = 0

    @property
    def remaining(self) -> int:
        """How many are neither done nor failed, nor held back."""
        return self.planned - self.done - self.failed - self.held


@dataclass
class Progress:
    """Counts of conversations, and of evaluations by label.

    Before they are known, `beginning` says what is done. `changed` is called after every change.
    `resumed` units were done before this run: the estimate of the time left ignores them.
    `elsewhere` counts conversations that other processes work on, when nothing else is left.
    `usage` has the gateway's counters, or None if the campaign has no models.
    """

    conversations: UnitCounts = field(default_factory=UnitCounts)
    evaluations: dict[str, UnitCounts] = field(default_factory=dict)
    beginning: str = "reading data and loading systems"
    resumed: int = 0
    elsewhere: int = 0
    usage: GatewayUsage | None = None
    changed: Callable[["Progress"], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self.started = self.clock()

    def begin(self, conversations: UnitCounts, evaluations: Mapping[str, UnitCounts]) -> None:
        """Set the number of units, and the number of those that are already done."""
        self.conversations, self.evaluations = conversations, dict(evaluations)
        self.resumed = sum(counts.done for counts in self._all_counts())
        self.changed(self)

    def finish(self, counts: UnitCounts, *, failed: bool = False) -> None:
        """Count one more unit as done or failed."""
        counts.failed += failed
        counts.done += not failed
        self.changed(self)

    def wait(self, counts: UnitCounts, count: int) -> None:
        """Remove units that must wait for another run."""
        counts.planned -= count
        self.changed(self)

    def hold(self, counts: UnitCounts, count: int) -> None:
        """Units that the budget does not cover are left for another run."""
        counts.held += count
        self.changed(self)

    @property
    def share(self) -> float:
        """The share of all units that are done or failed, 0 to 1."""
        planned = sum(counts.planned for counts in self._all_counts())
        return 1 - self.remaining / planned if planned else 0.0

    @property
    def remaining(self) -> int:
        """How many units are neither done nor failed."""
        return sum(counts.remaining for counts in self._all_counts())

    def seconds_left(self) -> float | None:
        """An estimate in seconds from this run's own speed; None until a unit has finished."""
        ended = sum(counts.done + counts.failed for counts in self._all_counts()) - self.resumed
        if ended <= 0:
            return None
        return (self.clock() - self.started) / ended * self.remaining

    def _all_counts(self) -> list[UnitCounts]:
        return [self.conversations, *self.evaluations.values()]


class RunResult(NamedTuple):
    """How a run ended, in numbers of conversations: `planned`, and of these `done` and `failed`.

    `failures` has the ids of those that failed, in this or another process. `conversations` has the
    ids of the planned ones: the store may have more of the campaign. `evaluators` has the labels of
    the evaluators of this run. `set_aside` counts conversations that no longer belong to the
    campaign because something that can change them (a system, the data) has changed: they stay in
    the store, but are not in the tables. `held_back` says what the budget did not cover, and
    `stopped` what was decided if the campaign may end early.
    """

    campaign: str
    planned: int
    done: int
    failures: frozenset[str] = frozenset()
    skipped: tuple[Skipped, ...] = ()
    set_aside: int = 0
    conversations: tuple[str, ...] = ()
    evaluators: tuple[str, ...] = ()
    held_back: BudgetShortfall | None = None
    stopped: Stopped | None = None

    @property
    def failed(self) -> int:
        """How many conversations failed."""
        return len(self.failures)
