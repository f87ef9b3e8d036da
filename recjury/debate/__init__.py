"""The debate of CoRE (section 4.2): four roles, rounds, a verdict."""

from recjury.debate.debate import DebateSettings, abstention, edited, hold, run_debate
from recjury.debate.roles import Role, RolePrompts, roles_of

__all__ = [
    "DebateSettings",
    "Role",
    "RolePrompts",
    "abstention",
    "edited",
    "hold",
    "roles_of",
    "run_debate",
]
