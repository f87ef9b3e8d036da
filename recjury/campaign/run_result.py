"""How a run of a campaign ended."""

from typing import NamedTuple

from recjury.campaign.budget_scheduler import BudgetShortfall
from recjury.campaign.stopping import Stopped
from recjury.store import Skipped


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
