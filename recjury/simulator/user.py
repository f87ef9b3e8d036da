"""`SimulatedUser`: what users have in common and know when they speak; `Nobody` says nothing."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from recjury.corpora import Part
from recjury.errors import UnitFailed
from recjury.llm import Ask
from recjury.records import ItemRef, Scenario, Turn
from recjury.simulator.leak_guard import LeakGuard


@dataclass(frozen=True)
class Situation:
    """What a user knows when it speaks.

    `found` is the target that was recommended. `last` says that the conversation ends with this
    utterance. `shown` is the list beside the last system turn, None if the user sees no lists.
    `may_name` are the targets that the system has named, `withheld` the values not to be said.
    """

    scenario: Scenario
    interaction: tuple[Turn, ...] = ()
    found: ItemRef | None = None
    last: bool = False
    shown: tuple[ItemRef, ...] | None = ()
    may_name: tuple[ItemRef, ...] = ()
    withheld: tuple[str, ...] = ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The history and the interaction."""
        return (*self.scenario.history, *self.interaction)


class SimulatedUser(Part):
    """A user whose fields are its keys in a campaign file, and its identity.

    It keeps no state: all that it knows of the conversation is in the situation. One of your own
    needs `speak` alone.
    """

    RENDERING: ClassVar[int] = 2

    def lacks(self, scenario: Scenario) -> str:  # noqa: ARG002
        """Why it cannot play a scenario, or nothing."""
        return ""

    def guard(self, scenario: Scenario) -> LeakGuard:
        """What it must not say: the targets, until the system has named them."""
        return LeakGuard(scenario.targets, self.catalogue(scenario))

    async def speak(self, situation: Situation, ask: Ask) -> Turn:
        """Its next utterance. Raises UnitFailed if there is none."""
        raise NotImplementedError

    async def rewrite(
        self,
        situation: Situation,  # noqa: ARG002
        text: str,  # noqa: ARG002
        leaks: list[str],  # noqa: ARG002
        ask: Ask,  # noqa: ARG002
    ) -> Turn:
        """An utterance without its leaks; if its text is empty, sentences with leaks are cut."""
        return Turn(speaker="user")


class Nobody(SimulatedUser):
    """Says nothing: in `session: offline`, the system answers the history, and that is all."""

    kind: Literal["nobody"] = "nobody"
    name: str = "nobody"

    def lacks(self, scenario: Scenario) -> str:
        """Why there is nothing to answer, or nothing."""
        if scenario.history:
            return ""
        return f"scenario {scenario.id} has no history, which an offline session answers"

    async def speak(self, situation: Situation, ask: Ask) -> Turn:  # noqa: ARG002
        """Raises UnitFailed."""
        raise UnitFailed("nobody speaks only in `session: offline`: name another user")
