"""The simulated user, its leak guard, and the conversation that it has with a system."""

from collections.abc import Mapping

from recjury.simulator.leak_guard import LeakGuard
from recjury.simulator.llm_user import LlmUser, personas
from recjury.simulator.session import Session, System, TimedLog, converse
from recjury.simulator.user import Nobody, SimulatedUser, Situation

USERS: Mapping[str, type[SimulatedUser]] = {"llm": LlmUser, "nobody": Nobody}
"""The classes of users by `kind`; their fields are their keys in a campaign file."""

__all__ = [
    "USERS",
    "LeakGuard",
    "LlmUser",
    "Nobody",
    "Session",
    "SimulatedUser",
    "Situation",
    "System",
    "TimedLog",
    "converse",
    "personas",
]
