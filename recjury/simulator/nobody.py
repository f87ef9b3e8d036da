"""The user of an offline session: it says nothing."""

from typing import Literal

from recjury.errors import UnitFailed
from recjury.llm import Ask
from recjury.records import Scenario, Turn
from recjury.simulator.user import SimulatedUser, Situation


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
